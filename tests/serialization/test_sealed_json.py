"""A small file that ends with its own hash shows every change of a character."""

from episodic_absa.serialization.canonical_json import indented_json
from episodic_absa.serialization.seals import seal_state, sealed

DOCUMENT = {"version": 4, "seal_n": 0, "nested": {"seal": "no"}, "words": ["배송", "a"]}


def test_every_changed_removed_or_added_character_breaks_the_seal() -> None:
    content = sealed(indented_json(DOCUMENT)).encode()
    assert seal_state(content) == "whole"
    for place, byte in enumerate(content):
        for damaged in (b"", bytes([byte ^ 1]), bytes([byte, 32])):
            assert seal_state(content[:place] + damaged + content[place + 1 :]) != "whole"


def test_a_file_without_a_seal_has_none() -> None:
    assert seal_state(indented_json(DOCUMENT).encode()) == "none"
    assert seal_state(b"") == "none"
