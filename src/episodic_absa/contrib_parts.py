"""The parts in `contrib` that the package calls. Nothing else of the package names or imports them."""

from importlib import import_module
from typing import Any, Final

CONTRIB_PARTS: Final = {
    "certificate": "episodic_absa.contrib.certificate:check_certificate",
    "drill": "episodic_absa.contrib.drill:drill",
    "plan": "episodic_absa.contrib.plan:plan",
    "principle_effects": "episodic_absa.contrib.principles.trial:effects_of_grid",
    "principles": "episodic_absa.contrib.principles:principles",
    "ray_grid": "episodic_absa.contrib.ray:ray_grid",
    "ray_processes": "episodic_absa.contrib.ray:ray_processes",
    "watch": "episodic_absa.contrib.watch:WatchLine",
}
"""Each part with its module and the name in it that is called."""


def contrib_part(name: str) -> Any:
    """Return what is called of a part; its modules are imported only now."""
    module, _, member = CONTRIB_PARTS[name].partition(":")
    return getattr(import_module(module), member)
