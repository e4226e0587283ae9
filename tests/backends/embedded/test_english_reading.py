"""What the English rules tie an opinion to, and how they read it; no weights take part."""

import pytest

from episodic_absa.backends.embedded.english.english_reader import read_english
from episodic_absa.backends.embedded.reading import polarity_of
from episodic_absa.vocabulary import Polarity


def tied(text: str) -> dict[str, Polarity]:
    """Return the targets with the sign of the opinions that are said of them."""
    reading = read_english(text)
    return {
        reading.targets[target].term: polarity_of(sum(reading.opinions[at].first for at in opinions))
        for target, opinions in reading.opinions_of.items()
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The porter who carried our bags was grumpy.", {"porter": "negative"}),
        ("The stew my brother cooked was tasty.", {"stew": "positive"}),
        ("The lamp, sadly, was broken.", {"lamp": "negative"}),
        ("The smell of the carpet was awful.", {"smell": "negative"}),
        ("I was impressed by the lining.", {"lining": "positive"}),
        ("We are really happy with the sink.", {"sink": "positive"}),
        ("The balm is a great product.", {"balm": "positive"}),
    ],
)
def test_an_opinion_goes_to_the_head_of_its_clause(text: str, expected: dict[str, Polarity]) -> None:
    assert tied(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Both the sauna and the gym were superb.", {"sauna": "positive", "gym": "positive"}),
        (
            "The ham, the eggs and the toast all tasted stale.",
            {"ham": "negative", "eggs": "negative", "toast": "negative"},
        ),
        ("Waffles and shakes are awesome.", {"Waffles": "positive", "shakes": "positive"}),
    ],
)
def test_every_conjunct_is_judged(text: str, expected: dict[str, Polarity]) -> None:
    assert tied(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the waitress didnt apologise", {"waitress": "negative"}),
        ("best dumplings ive had", {"dumplings": "positive"}),
        ("My husband's steak was overcooked.", {"steak": "negative"}),
        ("The falafel and the pita were fresh.", {"falafel": "positive", "pita": "positive"}),
        ("The bunk was more comfortable than I had feared.", {"bunk": "positive"}),
        ("I can't praise the spa enough.", {"spa": "positive"}),
        ("The boots never let me down.", {"boots": "positive"}),
    ],
)
def test_words_that_mislead_a_word_list_are_read_as_people_mean_them(text: str, expected: dict[str, Polarity]) -> None:
    assert tied(text) == expected


@pytest.mark.parametrize(
    ("text", "word", "tag"),
    [
        ("The room has wifi.", "wifi", "N"),
        ("Any guest can affirm that.", "affirm", "V"),
        ("The floor was crumby.", "crumby", "A"),
        ("They didn't juggle.", "juggle", "V"),
        ("My aunt's stroller broke.", "stroller", "N"),
    ],
)
def test_an_unknown_word_behind_an_auxiliary_is_what_that_auxiliary_takes(text: str, word: str, tag: str) -> None:
    assert next(found.tag for found in read_english(text).words if found.form == word) == tag


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("The slow cooker is great.", "slow cooker"),
        ("The fish and chips were lovely.", "fish and chips"),
        ("washing machine is loud", "washing machine"),
        ("Ubuntu 22 is fantastic.", "Ubuntu 22"),
        ("The check-in desk was chaotic.", "check-in desk"),
        ("The in flight meal was disgusting.", "in flight meal"),
        ("Boarding was awful.", "Boarding"),
    ],
)
def test_a_compound_is_one_target(text: str, term: str) -> None:
    assert list(tied(text)) == [term]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The guide was far from polite.", {"guide": "negative"}),
        ("The clerk was anything but rude.", {"clerk": "positive"}),
        ("The setup was no trouble.", {"setup": "positive"}),
        ("The pie is hard to beat.", {"pie": "positive"}),
        ("The picture could be better.", {"picture": "negative"}),
        ("The new hose is harder to fold than the old one.", {"hose": "negative"}),
        ("The speaker is louder than my old radio.", {"speaker": "positive"}),
        ("This powder clumps less than the others.", {"powder": "positive"}),
        ("The bar had no ice.", {"bar": "negative"}),
        ("There was no noise.", {}),
        ("Too many adverts.", {"adverts": "negative"}),
    ],
)
def test_litotes_and_comparisons_count_as_what_they_amount_to(text: str, expected: dict[str, Polarity]) -> None:
    assert tied(text) == expected


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("The strap tore.", "strap"),
        ("The parcel never arrived.", "parcel"),
        ("The remote stopped working.", "remote"),
        ("The kettle tripped the fuse.", "kettle"),
        ("They cancelled my booking.", "booking"),
        ("The airline lost my suitcase.", "airline"),
        ("The app keeps crashing.", "app"),
    ],
)
def test_an_event_that_anybody_would_complain_of_is_blame(text: str, term: str) -> None:
    assert tied(text) == {term: "negative"}


def test_what_something_is_compared_with_is_no_target() -> None:
    reading = read_english("The boots are warmer than my cheap trainers.")
    assert [target.term for target in reading.targets if target.is_nameable] == ["boots"]


def test_a_question_judges_nothing() -> None:
    assert tied("What time does the lovely bar open?") == {"bar": "neutral"}
    assert read_english("Who would not love this?").opinions[0].first != 0
