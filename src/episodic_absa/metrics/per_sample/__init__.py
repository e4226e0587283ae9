"""What is computed from one scorecard alone."""
