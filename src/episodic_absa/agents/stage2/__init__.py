"""Stage2: verdicts on Stage1, the patch with one module per step, the override gate."""
