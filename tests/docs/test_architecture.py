"""docs/architecture.md shows the tree and the layers as they are."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "episodic_absa"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def folders_of_the_package() -> set[str]:
    folders = (path for path in PACKAGE.rglob("*") if path.is_dir() and path.name != "__pycache__")
    # A folder that git does not know holds nothing but caches.
    return {
        folder.relative_to(PACKAGE).as_posix()
        for folder in folders
        if any(path.is_file() and path.suffix != ".pyc" for path in folder.rglob("*"))
    }


def folders_of_the_picture() -> set[str]:
    """Read the picture: two spaces per level, a slash behind the name of a folder."""
    _, _, picture = PAGE.partition("src/episodic_absa/\n")
    open_folders: list[str] = []
    folders = set()
    for line in picture[: picture.index("```")].splitlines():
        entry = re.match(r"( +)(\w+)/", line)
        assert entry, f"not a folder: {line!r}"
        depth = len(entry[1]) // 2 - 1
        open_folders[depth:] = [entry[2]]
        folders.add("/".join(open_folders))
    return folders


def test_every_folder_of_the_package_stands_in_the_picture() -> None:
    assert folders_of_the_package() - folders_of_the_picture() == set()


def test_every_folder_in_the_picture_exists() -> None:
    assert folders_of_the_picture() - folders_of_the_package() == set()


def test_the_layers_on_the_page_are_those_that_are_checked() -> None:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = next(
        contract["layers"]
        for contract in configuration["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    )
    block = re.search(r"<!-- layers: from pyproject\.toml -->\n```text\n(.*?)```\n<!-- end -->", PAGE, re.DOTALL)
    assert block is not None
    assert block[1].splitlines() == [layer.replace("episodic_absa.", "") for layer in layers]


def test_every_file_named_on_the_page_exists() -> None:
    named = set(re.findall(r"`((?:\w+/)+(?:\w+\.\w+)?)`", PAGE)) - {"tests/"}
    assert named
    assert [name for name in sorted(named) if not (PACKAGE / name).exists()] == []
