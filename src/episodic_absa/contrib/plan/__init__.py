"""`episodic-absa plan`: how many reviews and orders show a difference, before anything is paid."""

from episodic_absa.contrib.plan.plan_command import plan

__all__ = ["plan"]
