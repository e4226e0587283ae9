"""The patch of Stage1 that Stage2 and the debate ask for, one module per step."""
