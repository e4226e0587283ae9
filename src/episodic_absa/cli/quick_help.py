"""A command group whose `--help` and completion import neither pydantic nor rich."""

from typing import Any, Final

from typer.core import TyperGroup, TyperOption

_FLAGS_OF_TYPER: Final = ("install_completion", "show_completion")
_LONGEST_SENTENCE: Final = 200


class QuickHelpGroup(TyperGroup):
    """A group without the conversion of unused flags, for which typer would import pydantic."""

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """Return the help option with a default that needs no conversion."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters; the flags that typer adds get a default that needs no conversion, too."""
        params = super().get_params(ctx)
        for param in params:
            if param.name in _FLAGS_OF_TYPER and param.default is None:
                param.default = False
        return params

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands with their whole first sentences, which typer would cut to one line."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, command.get_short_help_str(_LONGEST_SENTENCE))
                    for name, command in commands
                    if command is not None
                ]
            )
