"""Models behind an API: connection, retries, prices, answer schemas."""
