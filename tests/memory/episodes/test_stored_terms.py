"""What a term is stored as, in episodes and tallies, under either set of rules."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_absa.errors import LeakageError
from episodic_absa.language import norm, norm_key
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.episodes.leak_guard import LONG_TERM, stored_term
from episodic_absa.schemas.stored.memory_v1_3 import VerdictV1_3

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u115f\u3164\ufe0f"
CONTROL = "\x00\x1b\x7f\x9b"


@pytest.mark.parametrize("hidden", [*BIDI, *ZERO_WIDTH, *CONTROL], ids=lambda hidden: f"U+{ord(hidden):04X}")
def test_a_hidden_character_is_not_stored(hidden: str) -> None:
    text = "The bre" + hidden + "akfast was cold, and nobody came to say so."
    assert stored_term(norm_key("bre" + hidden + "akfast", text), text) == "breakfast"
    assert stored_term(norm(hidden), text) == ""


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet=[*BIDI, *ZERO_WIDTH, *CONTROL, "\u2028", "a", "é", " ", ".", "방"], max_size=12))
def test_no_stored_term_holds_a_control_or_format_character(term: str) -> None:
    stored = stored_term(norm(term), "a text that is much longer than the term of it is")
    assert not [char for char in stored if unicodedata.category(char) in ("Cc", "Cf")]
    assert stored_term(stored) == stored


@pytest.mark.parametrize(
    ("target", "text", "stored"),
    [
        (
            "음식이 정말 맛있었어요",
            "음식이 정말 맛있었어요. 직원분들도 친절하고 방도 넓어서 또 오려고요.",
            None,
        ),
        ("화장실이 더럽다", "로비는 깨끗한데 화장실이 더럽다 싶을 정도라서 다시 가지는 않을 것 같습니다.", None),
        ("별로임", "사진으로 볼 때는 괜찮아 보였는데 직접 가서 보니 정말 별로임", None),
        ("조식", "조식은 종류가 많았지만 커피가 식어서 아쉬웠어요.", "조식"),
        ("산책로 걷기", "호텔 뒤쪽으로 이어지는 산책로 걷기 정말 좋았고 경치도 훌륭했습니다.", "산책로 걷기"),
        ("great food", "Great food!", None),
        ("food", "Great food!", "food"),
        ("방", "방!", None),
        ("👍", "👍👍", "👍"),
    ],
)
def test_a_term_that_is_a_sentence_or_most_of_its_text_is_long_term(target: str, text: str, stored: str | None) -> None:
    assert stored_term(norm_key(target, text), text) == (stored or LONG_TERM)


def test_the_store_refuses_hidden_characters_whoever_gives_them(tmp_path: Path) -> None:
    with MemoryStore(tmp_path / "store.jsonl") as store:
        for hidden in BIDI + ZERO_WIDTH + CONTROL:
            with pytest.raises(LeakageError):
                store.append_verdict(VerdictV1_3(source_id="r1", aspect="ro" + hidden + "om", verdict="right"))
    assert not (tmp_path / "store.jsonl").exists()
