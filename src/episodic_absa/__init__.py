"""episodic_absa."""
