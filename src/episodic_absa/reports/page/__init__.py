"""Renders those values as one HTML page."""
