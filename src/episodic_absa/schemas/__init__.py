"""Frozen value types. They hold data, refuse unknown keys, and do no I/O."""
