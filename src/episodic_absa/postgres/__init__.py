"""PostgreSQL, for what many machines share: addresses, connections, versioned tables. Needs the extra `postgres`."""
