"""A command group whose `--help` costs nothing where it is not asked for."""

from typing import Any

from typer.core import TyperGroup, TyperOption


class QuickHelpGroup(TyperGroup):
    """Spares `memory --help` the import of pydantic, with which typer would turn the None of an unused flag to None."""

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """Return the help option with a default that needs no conversion."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option
