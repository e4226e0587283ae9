"""Adoption, the moderator and the final result."""
