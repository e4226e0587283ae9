"""Finds the episodes most similar to a sample."""
