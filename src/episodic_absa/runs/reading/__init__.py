"""Reads the files of a run back."""
