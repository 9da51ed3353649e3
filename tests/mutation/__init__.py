"""Mutation runs: break a line, see which tests notice. A dev task (`poe mutate`), never part of the tests."""
