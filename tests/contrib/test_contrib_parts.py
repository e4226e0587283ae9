"""The package knows the parts of contrib by their names alone."""

from pathlib import Path

import pytest

from episodic_absa.contrib_parts import CONTRIB_PARTS, contrib_part

PACKAGE = Path(__file__).parents[2] / "src" / "episodic_absa"


@pytest.mark.parametrize("name", sorted(CONTRIB_PARTS))
def test_every_named_part_exists(name: str) -> None:
    assert callable(contrib_part(name))


def test_every_folder_of_contrib_is_named() -> None:
    folders = {path.parent.name for path in (PACKAGE / "contrib").glob("*/__init__.py")}
    assert folders == {place.split(":")[0].split(".")[2] for place in CONTRIB_PARTS.values()}


def test_only_the_table_names_contrib() -> None:
    outside = [path for path in PACKAGE.rglob("*.py") if "contrib" not in path.relative_to(PACKAGE).parts]
    naming = [path.name for path in outside if "episodic_absa.contrib." in path.read_text("utf-8")]
    assert naming == ["contrib_parts.py"]
