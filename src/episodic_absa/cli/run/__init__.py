"""`episodic-absa run`."""
