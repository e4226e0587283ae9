"""What `verify` writes beside integrity.json."""
