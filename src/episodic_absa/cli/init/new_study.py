"""Writes the folder of a new study from the files in `study/`."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.errors import ConfigError

CONFIG: Final = "study.yaml"
_FILES: Final = (CONFIG, "reviews.csv", "README.md")
_NAME: Final = "STUDY_NAME"
_OTHER_NAME: Final = "study"


class Study(NamedTuple):
    """A study that was written."""

    name: str
    """The run_id of its experiment."""
    files: tuple[Path, ...]


def write_study(folder: Path) -> Study:
    """Write the files of a new study, and return what was written.

    Raises:
        ConfigError: the folder holds files, or is none; nothing is written.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file; name a new folder", path=folder)
    if folder.is_dir() and any(folder.iterdir()):
        raise ConfigError(f"{folder} holds files already; name a new folder or an empty one", path=folder)
    name = study_name(folder)
    templates = files("episodic_absa.cli.init") / "study"
    texts = {file: (templates / file).read_text("utf-8").replace(_NAME, name) for file in _FILES}
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
    return Study(name, tuple(folder / file for file in texts))


def study_name(folder: Path) -> str:
    """Return the folder's name as a run_id may be spelled.

    Example:
        >>> from pathlib import Path
        >>> study_name(Path("My study: phones"))
        'My-study-phones'
    """
    name = re.sub(r"_{2,}", "_", re.sub(r"[^\w.-]+", "-", folder.resolve().name))
    return name.strip("-._") or _OTHER_NAME
