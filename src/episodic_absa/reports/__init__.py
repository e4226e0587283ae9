"""The report: one self-contained HTML page, rendered from values; nothing here reads a run or computes a metric."""
