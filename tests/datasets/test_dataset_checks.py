from pathlib import Path

import pytest

from episodic_absa.datasets import count_invalid_gold, find_shared_texts, majority_polarity, require_unique_uids
from episodic_absa.errors import DatasetError
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.gold import GoldTuple, LabelledSample
from episodic_absa.vocabulary import Polarity


def labelled(uid: str, text: str = "ok", polarities: tuple[Polarity | None, ...] | None = None) -> LabelledSample:
    gold = (
        None if polarities is None else tuple(GoldTuple(aspect_term="", polarity=polarity) for polarity in polarities)
    )
    return LabelledSample(sample=Sample(uid=uid, text=text), gold=gold)


def test_a_uid_in_two_splits_is_refused_and_both_places_are_named() -> None:
    splits = {Path("train.csv"): [labelled("a"), labelled("b")], Path("valid.csv"): [labelled("c"), labelled("b")]}
    with pytest.raises(DatasetError, match=r"'b' .* train\.csv \(text 2\) and in valid\.csv \(text 2\)") as caught:
        require_unique_uids(splits)
    assert caught.value.path == Path("valid.csv")
    with pytest.raises(DatasetError, match="'a'"):
        require_unique_uids({Path("train.csv"): [labelled("a"), labelled("a")]})
    require_unique_uids({Path("train.csv"): [labelled("a")], Path("valid.csv"): [labelled("A")]})


def test_texts_in_two_splits_are_found_whatever_their_white_space() -> None:
    train = [labelled("t1", "Good  soup\n"), labelled("t2", "Bad soup"), labelled("t3", "Good soup")]
    valid = [labelled("v1", " Good\tsoup"), labelled("v2", "good soup"), labelled("v3", "Good soup")]
    assert find_shared_texts(train, valid) == (("t1", "v1"), ("t1", "v3"))


@pytest.mark.parametrize(
    ("polarities", "invalid_n"),
    [(None, 0), ((), 0), (("positive",), 0), (("positive", None), 1), ((None, None), 1)],
)
def test_a_sample_counts_once_as_invalid_gold_however_many_tuples_lack_a_polarity(
    polarities: tuple[Polarity | None, ...] | None, invalid_n: int
) -> None:
    assert count_invalid_gold([labelled("a", polarities=polarities)]) == invalid_n


@pytest.mark.parametrize(
    ("golds", "majority"),
    [
        ([("negative", "negative", "positive")], "negative"),
        ([("neutral",), ("neutral", "negative"), None], "neutral"),
        ([("negative", "positive")], "positive"),
        ([("neutral",), ("negative",)], "negative"),
        ([(None, None, "neutral")], "neutral"),
        ([(None,), (), None], None),
        ([], None),
    ],
)
def test_the_majority_is_the_commonest_valid_polarity_and_ties_go_by_order(
    golds: list[tuple[Polarity | None, ...] | None], majority: Polarity | None
) -> None:
    assert majority_polarity(labelled(str(at), polarities=gold) for at, gold in enumerate(golds)) == majority
