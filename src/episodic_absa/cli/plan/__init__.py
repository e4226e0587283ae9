"""`episodic-absa plan`."""
