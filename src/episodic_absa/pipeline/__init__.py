"""One review from text to pairs: Stage1, debate, Stage2 and one decision. Read `supervisor.py` first."""
