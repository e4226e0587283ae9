"""`episodic-absa check` and `verify`."""
