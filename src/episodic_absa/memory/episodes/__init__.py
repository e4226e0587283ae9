"""Builds the episode of a sample, guards it and decides whether it is kept."""
