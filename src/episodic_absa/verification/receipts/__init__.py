"""Receipts: the lines of a run that a number of a table comes from, and the number computed from them again."""
