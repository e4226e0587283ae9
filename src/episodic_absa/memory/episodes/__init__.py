"""Builds the episode of a sample, checks it for leaks and decides whether to store it."""
