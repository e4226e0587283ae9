"""Of several answers, the pairs that more than half of them hold."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_absa.pipeline.stage1 import majority
from episodic_absa.schemas.answers import Pair

WORDS = {"food": ("food", "Food", " food "), "음식": ("음식",), "": ("",)}
POLARITIES = {"positive": ("positive", "Positive", "pos"), "negative": ("negative", "NEG"), "neutral": ("neutral",)}
MEANING = {word: term for term, words in WORDS.items() for word in words}
MEANING |= {word: polarity for polarity, words in POLARITIES.items() for word in words}


def meaning(pair: Pair) -> tuple[str, str]:
    return MEANING[pair.term], MEANING[pair.polarity]


PAIRS = st.builds(
    Pair,
    quote=st.sampled_from(["", "great", "slow"]),
    term=st.sampled_from([word for words in WORDS.values() for word in words]),
    polarity=st.sampled_from([word for words in POLARITIES.values() for word in words]),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(PAIRS, max_size=5), min_size=1, max_size=6))
def test_a_pair_is_kept_if_and_only_if_more_than_half_of_the_votes_hold_it(votes: list[list[Pair]]) -> None:
    kept = majority(votes)
    every = [pair for vote in votes for pair in vote]
    holding = {meaning(pair): sum(meaning(pair) in map(meaning, vote) for vote in votes) for pair in every}
    first = {meaning(pair): pair for pair in reversed(every)}
    in_order = list(dict.fromkeys(map(meaning, every)))
    assert list(kept) == [first[pair] for pair in in_order if holding[pair] > len(votes) / 2]


@pytest.mark.parametrize("votes_n", [2, 3, 4, 5])
def test_half_of_the_votes_are_no_majority(votes_n: int) -> None:
    pair = Pair(term="food", polarity="positive")
    assert majority([[pair]] * (votes_n // 2) + [[]] * (votes_n - votes_n // 2)) == ()
    assert majority([[]] * (votes_n - votes_n // 2 - 1) + [[pair]] * (votes_n // 2 + 1)) == (pair,)
