"""One entry of integrity.json: the result of one check of `verify`."""

from typing import Literal

from episodic_absa.schemas.frozen_model import Count, FrozenModel


class CheckResult(FrozenModel):
    """The result of one check."""

    check: str
    result: Literal["pass", "fail", "not_applicable"]
    detail: str
    """What is wrong, or how many things were checked, or why none could be. It quotes no review text."""
    count: Count
    """How many things are wrong."""
    sha256: dict[str, str] | None = None
    """Hashes of all checked files, where the check is `files_seen`: a file that changes later is not verified."""
