"""Finds the episodes that resemble a sample."""
