"""What must hold of a run's files, one module per subject."""
