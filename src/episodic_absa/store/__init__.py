"""One store of episodes over SQL, in a SQLite file or in PostgreSQL; its import and export; its maintenance."""
