"""Checks an experiment before it runs and its files afterwards."""
