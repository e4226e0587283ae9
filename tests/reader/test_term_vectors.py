"""Vectors of terms: unit vectors of the term alone, near for related terms in both languages."""

import numpy as np
import pytest

from episodic_absa import InputError
from episodic_absa.reader.reader import default_reader

RELATED = {
    "en": (
        ("laptop", "notebook"),
        ("laptop", "computer"),
        ("staff", "waiter"),
        ("room", "bathroom"),
        ("food", "meal"),
        ("price", "cost"),
        ("screen", "display"),
        ("course", "class"),
    ),
    "ko": (
        ("직원", "종업원"),
        ("음식", "메뉴"),
        ("가격", "값"),
        ("배우", "연기"),
        ("화면", "영상"),
        ("음악", "노래"),
        ("스토리", "줄거리"),
        ("영화", "작품"),
    ),
}
UNRELATED = {
    "en": (("laptop", "soup"), ("staff", "battery"), ("room", "lecture"), ("price", "beach"), ("screen", "waiter")),
    "ko": (("직원", "음악"), ("음식", "결말"), ("가격", "연출"), ("배우", "배송"), ("화면", "점심")),
}


@pytest.mark.parametrize("language", ["en", "ko"])
def test_related_terms_are_nearer_than_unrelated_ones(language: str) -> None:
    similarity = default_reader().similarity
    related = [similarity(term, other) for term, other in RELATED[language]]
    unrelated = [similarity(term, other) for term, other in UNRELATED[language]]
    assert np.mean(related) > np.mean(unrelated) + 0.2
    assert np.median(related) > max(unrelated)


@pytest.mark.parametrize("term", ["laptop", "front desk", "Front  Desk", "직원", "아침 식사", "wifi 속도"])
def test_a_vector_has_length_one_and_depends_on_the_normalised_term_alone(term: str) -> None:
    vector = default_reader().term_vector(term)
    assert vector.shape == (64,)
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)
    again = default_reader().term_vector(f' "{term.upper()}" ')
    assert vector.tobytes() == again.tobytes()
    assert default_reader().similarity(term, term) == 1.0


@pytest.mark.parametrize("term", ["", " ", "\ud800", "\0"])
def test_a_term_of_which_nothing_is_known_has_no_direction(term: str) -> None:
    assert not default_reader().term_vector(term, "en").any()
    assert default_reader().similarity(term, "room", "en") == 0.0


def test_a_language_without_a_table_is_refused() -> None:
    with pytest.raises(InputError, match="no term vectors for the language 'other'; use ko or en"):
        default_reader().term_vector("Zimmer", "other")
