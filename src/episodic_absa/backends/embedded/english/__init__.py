"""Reads English by rules."""
