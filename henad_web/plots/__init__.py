"""Answers drawn with matplotlib, in one style; an extra, imported when something is drawn."""
