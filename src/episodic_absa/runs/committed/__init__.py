"""What the journal of a cell commits: the hashes of its files, and whether the files still are as committed."""
