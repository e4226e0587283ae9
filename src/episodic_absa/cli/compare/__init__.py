"""`episodic-absa compare`."""
