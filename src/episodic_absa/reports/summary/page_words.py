"""The words of the summary page: English and Korean from one file, for the template and for the script."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import as_file, files

from markupsafe import Markup, escape

from episodic_absa.reports.bilingual import Language
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.yaml_file import read_yaml_file

_PLACE = re.compile(r"\{(\w+)\}")


@cache
def page_words() -> Mapping[str, Mapping[Language, str]]:
    """Return every sentence of the page by its key."""
    with as_file(files(__package__) / "words.yaml") as path:
        words: dict[str, dict[Language, str]] = read_yaml_file(path)
    return words


def sentence(language: Language, key: str, values: Mapping[str, str | int]) -> str:
    """Return a sentence with its values filled in; numbers get thousands separators."""
    words = page_words()
    if values.get("n") == 1 and f"{key}_1" in words:
        key = f"{key}_1"

    def filled(place: re.Match[str]) -> str:
        value = values[place[1]]
        return f"{value:,}" if isinstance(value, int) else value

    return _PLACE.sub(filled, words[key][language])


def said(language: Language, key: str, values: Mapping[str, str | int]) -> Markup:
    """Return a sentence as an element that the script can say in the other language."""
    data = f' data-values="{escape(canonical_json(values))}"' if values else ""
    return Markup(f'<span data-say="{escape(key)}"{data}>{escape(sentence(language, key, values))}</span>')  # noqa: S704 - all parts are escaped
