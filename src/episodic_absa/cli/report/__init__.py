"""`episodic-absa report`."""
