"""Everything that answers a question: the embedded engine, a model behind a server, a recording."""
