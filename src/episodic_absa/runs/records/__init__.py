"""Builds what a cell and its samples leave in the files of a run."""
