"""A command group whose `--help` and completion do not import pydantic."""

from typing import Any, Final

from typer.core import TyperGroup, TyperOption

_FLAGS_OF_TYPER: Final = ("install_completion", "show_completion")


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
