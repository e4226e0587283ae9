"""The pipeline's steps, each one a small module. Read `supervisor_agent.py` first."""
