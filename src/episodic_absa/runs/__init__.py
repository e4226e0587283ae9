"""Runs a grid of conditions and seeds and writes its files."""
