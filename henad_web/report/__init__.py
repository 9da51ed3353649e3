"""A report of results: one HTML file that says what was studied, what came out, and how to have it again."""
