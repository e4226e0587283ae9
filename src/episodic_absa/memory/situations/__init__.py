"""The memory for agents of any kind: recall advice for a situation, remember what was done and how it turned out."""
