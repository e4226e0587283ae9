"""`episodic-absa init`."""
