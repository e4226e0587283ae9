"""Episodes in PostgreSQL: one store for writers on several machines. Needs the extra `postgres`."""
