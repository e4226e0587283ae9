"""A command group that runs one of its commands if the first word names none: `principles RUN`."""

from typing import Any, Final

from episodic_absa.cli.quick_help import QuickHelpGroup

DEFAULT: Final = "effects"
_HELP: Final = ("-h", "--help")


class DefaultCommandGroup(QuickHelpGroup):
    """Puts the name of the default command in front of words that are neither a command nor a call for help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words behind the name of the group."""
        if args and args[0] not in self.commands and args[0] not in _HELP:
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)
