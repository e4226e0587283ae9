"""Values that need one scorecard only."""
