"""Pure functions from the records of a cell, its data and its manifest to the files of the original requirement."""
