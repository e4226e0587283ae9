"""The report: a single self-contained HTML page per grid and per cell."""
