"""Decides what reaches a prompt: the gates and the slot."""
