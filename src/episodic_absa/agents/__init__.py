"""The steps of the pipeline, one folder per stage. Read `supervisor_agent.py` first."""
