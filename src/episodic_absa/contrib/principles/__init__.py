"""`episodic-absa principles`: what a condition that withholds advice at random says about each principle."""

from episodic_absa.contrib.principles.principles_command import principles

__all__ = ["principles"]
