"""`episodic-absa principles`."""
