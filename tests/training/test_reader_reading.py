"""What the neural reader is trained on and how its answers are read and scored, without the network."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
READER = ROOT / "training" / "reader"
sys.path[:0] = [str(READER), str(ROOT / "training")]

from corpora import Row, public_data  # noqa: E402 - the folder is no package: it is run, not installed
from evaluate import averaged, calibration_error, fit_table, scores  # noqa: E402
from near_copies import HeldOut  # noqa: E402
from pack import label_of, morpheme_classes, own_rows, pack, packed_rows, spans_of, topic_of, write_pack  # noqa: E402
from reading import (  # noqa: E402
    LABELS,
    MARKS,
    TOPICS,
    WINDOW,
    Encoded,
    Output,
    joined,
    pairs_of,
    whole_words,
    windows,
)

DATA = public_data()
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"there are no public datasets at {DATA}")


def make_row(text: str, **polarities: str) -> Row:
    return Row(text, tuple({"aspect_term": term, "polarity": polarity} for term, polarity in polarities.items()))


def words_of(text: str) -> Encoded:
    starts, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        starts.append(at)
        at += len(word)
    ends = [start + len(word) for start, word in zip(starts, text.split(), strict=True)]
    return Encoded([0] * len(starts), starts, ends)


def make_output(*marks: str | dict[str, float]) -> Output:
    """Build the network's answer: a mark for each word, or the probabilities of several."""
    shares = [{mark: 1.0} if isinstance(mark, str) else mark for mark in marks]
    table = np.array([[share.get(mark, 0.0) for mark in MARKS] for share in shares], dtype=np.float32)
    return Output(
        table, np.full((len(marks), len(TOPICS)), 0.1, dtype=np.float32), np.eye(len(LABELS), dtype=np.float32)[0]
    )


def test_a_term_without_a_place_is_found_in_the_text_and_the_shorter_of_two_overlapping_terms_stays() -> None:
    row = make_row("The front desk staff was rude.", **{"front desk staff": "negative", "staff": "negative"})
    assert [row.text[span.start : span.end] for span in spans_of(row)] == ["staff"]


@pytest.mark.parametrize(
    ("polarities", "is_own", "label"),
    [
        ({"room": "positive", "staff": "negative"}, False, "mixed"),
        ({"room": "positive", "staff": "neutral"}, False, "positive"),
        ({"room": "neutral"}, False, "neutral"),
        ({}, True, "none"),
        ({}, False, None),
    ],
)
def test_the_label_of_a_text_follows_its_marks_and_only_our_own_unmarked_texts_judge_nothing(
    polarities: dict[str, str], is_own: bool, label: str | None
) -> None:
    assert label_of(make_row("room staff", **polarities), is_own=is_own) == label


@pytest.mark.parametrize(
    ("aspect", "topic"),
    [
        ("food_drinks prices", "price"),
        ("Battery/Longevity#Charging Speed", "battery"),
        ("Logistics#Speed", "delivery"),
        ("Overall#Overall", "other"),
        ("polarity positive", None),
        (None, None),
    ],
)
def test_an_aspect_of_a_corpus_has_a_plain_topic(aspect: str | None, topic: str | None) -> None:
    assert topic_of(aspect) == topic


def test_every_topic_that_an_aspect_can_have_is_one_the_reader_knows() -> None:
    named = {
        line.rpartition(": ")[2] for line in (READER / "topics.yaml").read_text("utf-8").splitlines() if ": " in line
    }
    assert named - {line for line in named if line.startswith("#")} <= {*TOPICS}
    assert {*TOPICS} - {"other"} <= named


def test_a_text_that_resembles_a_held_out_one_is_not_packed() -> None:
    rows = [make_row("The soup was cold.", soup="negative"), make_row("The bread was stale.", bread="negative")]
    packed = packed_rows(rows, "en", "everyday", HeldOut(["the soup was COLD"]))
    assert [row["text"] for row in packed] == ["The bread was stale."]


def test_each_character_of_a_korean_text_has_the_class_of_its_morpheme() -> None:
    pytest.importorskip("kiwipiepy", reason="kiwipiepy is not installed")
    assert morpheme_classes("직원이 친절") == "NnJ-Nn"


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_text_of_ours_holds_its_marked_terms(language: str) -> None:
    rows = list(own_rows("en" if language == "en" else "ko"))
    assert len(rows) > 10_000
    assert all("{" not in row.text and "\t" not in row.text for row in rows)
    assert all(row.text[span.start : span.end].strip() for row in rows for span in spans_of(row))


@needs_data
def test_the_pack_holds_marked_training_texts_and_dev_texts_of_both_languages_and_repeats_itself(
    tmp_path: Path,
) -> None:
    packed = pack(DATA, most=5)
    assert {row["corpus"] for row in packed["ko"]["train"]} >= {"everyday", "film", "hotel"}
    assert {row["corpus"] for row in packed["en"]["dev"]} >= {"restaurant", "everyday_dev", "everyday_extra"}
    assert not any(row["corpus"].endswith(("test", "fresh", "real", "facts")) for row in packed["en"]["dev"])
    for name in ("a", "b"):
        write_pack(packed, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_term_is_read_where_it_is_likelier_than_none_and_a_doubtful_one_is_kept_with_its_p() -> None:
    text = "great battery life , keyboard maybe"
    output = make_output("O", "B-positive", "I-positive", "O", {"O": 0.7, "B-negative": 0.3}, "O")
    found = pairs_of(text, words_of(text), output)
    assert [(text[pair.start : pair.end], pair.polarity, pair.p) for pair in found] == [
        ("battery life", "positive", 1.0),
        ("keyboard", "negative", 0.3),
    ]


def test_two_terms_side_by_side_are_two_pairs() -> None:
    text = "service staff"
    found = pairs_of(text, words_of(text), make_output("B-positive", "B-negative"))
    assert [text[pair.start : pair.end] for pair in found] == ["service", "staff"]


@pytest.mark.parametrize(
    ("text", "span", "widened"),
    [
        ("The keyboards broke", (4, 7), "keyboards"),
        ("직원들이 친절", (0, 2), "직원"),
        ("the (wifi) dropped", (4, 10), "wifi"),
        ("...", (0, 3), ""),
    ],
)
def test_a_span_is_widened_to_whole_words_but_never_over_a_korean_particle(
    text: str, span: tuple[int, int], widened: str
) -> None:
    start, end = whole_words(text, *span)
    assert text[start:end] == widened


@pytest.mark.parametrize("length", [0, 1, WINDOW, WINDOW + 1, 3 * WINDOW, 2000])
def test_the_windows_of_a_long_text_give_each_token_one_answer_in_its_place(length: int) -> None:
    parts = windows(length)
    outputs = []
    for start, end in parts:
        marks = np.zeros((end - start + 3, len(MARKS)), dtype=np.float32)
        marks[2:-1, 0] = np.arange(start, end)
        outputs.append(
            Output(marks, np.zeros((end - start + 3, len(TOPICS)), dtype=np.float32), np.zeros(5, dtype=np.float32))
        )
    assert all(end - start <= WINDOW for start, end in parts)
    assert joined(outputs, parts).marks[:, 0].tolist() == list(range(length))


def test_scores_count_a_pair_only_if_term_and_polarity_are_right() -> None:
    texts = {"a": {"text": "Nice room, rude staff", "pairs": [["room", "positive"], ["staff", "negative"]]}}
    line = {
        "corpus": "hotel",
        "tag": "no_tag",
        "uid": "a",
        "pairs": [[5, 9, "positive", 0.9], [16, 21, "positive", 0.8]],
    }
    (figures,) = scores(texts, [[line]], [1.0], tau=0.5)
    assert (figures["f1"], figures["exact"], figures["texts"]) == (0.5, 0, 1)


def test_files_of_readings_are_averaged_and_one_polarity_of_a_term_stays() -> None:
    found = averaged([{("room", "positive"): 0.9}, {("room", "negative"): 0.8, ("bed", "negative"): 0.4}], [0.5, 0.5])
    assert {pair: round(p, 3) for pair, p in found.items()} == {("room", "positive"): 0.45, ("bed", "negative"): 0.2}


def test_the_calibration_error_is_the_mean_gap_between_p_and_the_share_that_is_right() -> None:
    assert calibration_error([(0.95, True), (0.95, False)]) == pytest.approx(0.45)
    assert calibration_error([]) == 0.0


def test_a_calibration_table_rises_and_says_the_share_that_is_right() -> None:
    judged = [(at / 1000, at % 10 < at // 200) for at in range(1000)]
    scored, shares = fit_table(judged)
    assert scored == sorted(scored)
    assert shares == sorted(shares)
    assert calibration_error([(float(np.interp(p, scored, shares)), is_right) for p, is_right in judged]) < 0.03
    assert calibration_error(judged) > 0.2


def test_the_notes_for_the_gpu_name_only_scripts_and_options_that_exist() -> None:
    notes = (READER / "gpu.md").read_text("utf-8").replace("\\\n", " ")
    calls = re.findall(r"python training/reader/(\w+\.py) (.*)", notes)
    assert len(calls) >= 5
    for script, rest in calls:
        source = (READER / script).read_text("utf-8")
        assert all(f'"{option}"' in source for option in re.findall(r"--[a-z-]+", rest)), (script, rest)
