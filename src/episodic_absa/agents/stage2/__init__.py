"""The second look: verdicts on Stage1, the patch, the override gate."""
