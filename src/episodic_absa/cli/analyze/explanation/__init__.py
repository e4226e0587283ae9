"""The page of `analyze --explain`: one module per section, named after the section's title."""
