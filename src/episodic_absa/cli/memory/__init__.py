"""`episodic-absa memory ...`."""
