"""Where the samples of cells are analysed: in this process, or by the workers of a Ray cluster."""
