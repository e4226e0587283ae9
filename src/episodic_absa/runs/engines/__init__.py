"""Where the cells of a grid run: in this process, or as tasks of a Ray cluster."""
