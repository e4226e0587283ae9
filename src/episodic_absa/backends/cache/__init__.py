"""Answers that are kept, so that an equal request is sent once."""
