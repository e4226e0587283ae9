"""Decides what a prompt shows of the memory: the gates and the slot."""
