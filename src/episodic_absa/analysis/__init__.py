"""Tables and comparisons, computed from the files of finished runs."""
