"""Joins rules and weights: which targets, which polarity, which label."""
