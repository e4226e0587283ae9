"""Whatever answers a question: the embedded engine, a model behind a server, a recording. Agents know only the seam."""
