"""Builds the values a report shows from the files of a run."""
