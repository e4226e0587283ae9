"""`episodic-absa analyze`."""
