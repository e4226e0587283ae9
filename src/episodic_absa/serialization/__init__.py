"""How values become bytes and back: canonical JSON, YAML, CSV, durable files."""
