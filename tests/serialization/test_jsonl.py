"""The one reader and the one writer of JSON lines."""

from hypothesis import given
from hypothesis import strategies as st

from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.serialization.jsonl import json_line, json_lines, read_lines, split_lines


class Note(FrozenModel):
    text: str
    weight: float = 0.0


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_what_is_written_is_read_back(texts: list[str]) -> None:
    notes = [Note(text=text, weight=0.5) for text in texts]
    lines, torn = split_lines(json_lines(notes).encode())
    assert torn == b""
    assert [line.value for line in read_lines(lines, Note)] == notes


def test_a_line_is_canonical_and_ended() -> None:
    assert json_line(Note(text="가", weight=0.1234567)) == '{"text":"가","weight":0.123457}\n'
    assert json_lines([]) == ""


def test_only_line_feeds_end_a_line() -> None:
    assert split_lines('"a\r\u2028b"\n'.encode()).lines == ['"a\r\u2028b"'.encode()]


def test_a_bad_line_has_a_number_and_a_problem_and_reading_goes_on() -> None:
    read = list(read_lines([b'{"text":"a"}\n', b"secret\n", b'{"text":"b","secret":1}\n', b'{"text":"c"}'], Note))
    assert [line.number for line in read] == [1, 2, 3, 4]
    assert [line.value.text if line.value else None for line in read] == ["a", None, None, "c"]
    assert [bool(line.problem) for line in read] == [False, True, True, False]
    assert read[2].problem == "secret: Extra inputs are not permitted"
    assert "secret" not in read[1].problem
