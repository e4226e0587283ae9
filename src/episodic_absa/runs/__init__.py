"""Runs a grid of conditions, orders and seeds and writes its files."""
