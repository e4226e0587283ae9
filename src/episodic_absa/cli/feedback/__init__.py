"""`episodic-absa feedback`: what a person says about results."""
