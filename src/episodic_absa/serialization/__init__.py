"""Turns values into bytes and back: canonical JSON, JSON lines, YAML, CSV, durable files."""
