"""What a store of schema 1.3 holds."""
