"""One module per role of the pipeline, and what several roles share."""
