"""A command group whose `--help` does not import pydantic."""

from typing import Any

from typer.core import TyperGroup, TyperOption


class QuickHelpGroup(TyperGroup):
    """A group without the conversion of unused flags, for which typer would import pydantic."""

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """Return the help option with a default that needs no conversion."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option
