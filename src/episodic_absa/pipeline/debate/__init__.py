"""The debate: who speaks, what the judge hears, and the debate as records hold it."""
