"""Three speakers and a judge, and what they leave for Stage2."""
