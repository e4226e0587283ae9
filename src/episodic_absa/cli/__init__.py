"""The command line: `episodic-absa`. The only code that prints and the only code that configures logging."""

from episodic_absa.cli.app import main

__all__ = ["main"]
