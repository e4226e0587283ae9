"""Episodes on disk: the store, its lock, its maintenance."""
