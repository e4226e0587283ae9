"""Reads a review: its judged terms with probabilities, and its label."""
