"""`episodic-absa drill`: hostile reviews against the memory."""
