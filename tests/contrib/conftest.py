"""The parts of contrib are tested through the command line, as `tests/cli` does."""

from tests.cli.conftest import Cli, cli

__all__ = ["Cli", "cli"]
