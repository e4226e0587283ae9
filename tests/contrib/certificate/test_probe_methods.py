"""Chance keeps answers within their group, and small runs get no verdict."""

import numpy as np

from episodic_absa.contrib.certificate.probe_methods import Figure, Matching, codes_of, probe_polarity, shuffled_places


def test_answers_are_shuffled_within_their_group_only() -> None:
    groups = codes_of(["a", "b", "a", "c", "b", "a"])
    places = shuffled_places(groups, 200)
    assert (groups[places] == groups).all()
    assert (np.sort(places, axis=1) == np.arange(6)).all()
    assert {tuple(place) for place in places[:, [0, 2, 5]].tolist()} == {
        (0, 2, 5), (0, 5, 2), (2, 0, 5), (2, 5, 0), (5, 0, 2), (5, 2, 0),
    }  # fmt: skip


def test_an_unreached_figure_has_the_smallest_p_there_is() -> None:
    assert Figure(0.9, (), (0.1,) * 99).p_value == 0.01
    assert Figure(0.1, (), (0.1,) * 99).p_value == 1.0


def test_a_field_that_names_the_answer_is_found_and_noise_is_not() -> None:
    gold = ["positive", "negative", "neutral"] * 10
    noise = [{f"field={place % 7}", f"word{place % 4}"} for place in range(30)]
    leaking = [document | {f"label={answer}"} for document, answer in zip(noise, gold, strict=True)]
    found = probe_polarity(leaking, gold, [()] * 30, shuffles=99)
    assert (found.value, found.p_value) == (1.0, 0.01)
    assert probe_polarity(noise, gold, [()] * 30, shuffles=99).p_value > 0.05


def test_gold_that_follows_from_what_chance_keeps_is_no_finding() -> None:
    gold = ["positive", "negative"] * 15
    documents = [{f"structure={answer}"} for answer in gold]
    assert probe_polarity(documents, gold, gold, shuffles=99).p_value == 1.0


def test_equally_near_reviews_share_the_hit() -> None:
    texts = [{"room"}, {"bed"}, {"sink"}]
    nothing = Matching([set(), set(), set()], texts, ["en"] * 3)
    assert nothing.identity(19).value == round(1 / 3, 12)
    assert nothing.overlap(19).value == 0.0
    assert Matching(texts, texts, ["en"] * 3).identity(19).value == 1.0
