"""The lines and documents of a run's files. Writers and readers share these models."""
