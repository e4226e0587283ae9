"""Renders report data as one HTML page. Nothing here reads a run or computes a metric."""
