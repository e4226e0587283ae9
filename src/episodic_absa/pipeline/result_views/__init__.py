"""What a caller reads of a result: its aspects, a marked text, a table."""
