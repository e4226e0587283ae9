"""Hidden characters of a review become escapes, in JSON of equal value and in text for people."""

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.terminal_text import terminal_json, visible_text

HIDDEN = ("Cc", "Cf", "Zl", "Zp", "Cs")
"""Unicode's categories: control, format, line and paragraph separator, half of a pair."""
ANYTHING = st.text(st.one_of(st.characters(), st.characters(categories=("Cc", "Cf", "Zl", "Zp"))))


def hidden_in(text: str) -> set[str]:
    return {f"U+{ord(character):04X}" for character in text if unicodedata.category(character) in HIDDEN}


def test_every_hidden_character_of_unicode_is_escaped_and_no_letter_is() -> None:
    hidden = [chr(point) for point in range(0x110000) if unicodedata.category(chr(point)) in HIDDEN]
    rendered = terminal_json(json.dumps(hidden, ensure_ascii=False))
    assert json.loads(rendered) == hidden
    assert hidden_in(rendered + visible_text("".join(hidden))) == set()
    letters = "국물 café naïve 日本 ١٢٣ 👍🏽 \u3000\u00a0"
    assert terminal_json(f'"{letters}"') == f'"{letters}"'
    assert visible_text(letters) == letters


@given(st.dictionaries(ANYTHING, ANYTHING, max_size=3))
def test_json_for_a_terminal_has_the_same_value(value: dict[str, str]) -> None:
    rendered = terminal_json(canonical_json(value))
    assert json.loads(rendered) == value
    assert hidden_in(rendered) == set()


def test_joined_emoji_stay_whole_only_where_asked() -> None:
    family = "👩\u200d👧"
    assert visible_text(family, keeps_joiners=True) == family
    assert visible_text(family) == "👩\\u200d👧"
    assert visible_text("a\x9b31m\u202eb\U000e0041") == "a\\x9b31m\\u202eb\\U000e0041"
