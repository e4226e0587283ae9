"""`episodic-absa drill`: hostile reviews against the memory."""

from episodic_absa.contrib.drill.drill_command import drill

__all__ = ["drill"]
