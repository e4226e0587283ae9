"""Every metric of a run, as pure functions over its scorecards; nothing here reads a file."""
