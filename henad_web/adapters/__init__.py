"""Models of other libraries as they are, made entries of this package."""
