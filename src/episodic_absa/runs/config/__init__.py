"""The experiment: its file, its data, its cells and the hash that names a cell's configuration."""
