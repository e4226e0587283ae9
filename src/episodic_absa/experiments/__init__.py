"""Experiments over datasets: what is read, how it is checked, and what a run leaves behind."""
