"""Single lines of an open store, checked when they are read."""
