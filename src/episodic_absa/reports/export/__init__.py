"""The figures and tables of a report as files: SVG, CSV, LaTeX."""
