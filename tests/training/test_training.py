"""Training keeps held-out texts out, aligns terms sensibly and gives the same bytes each time."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRAINING = ROOT / "training"
sys.path.insert(0, str(TRAINING))

from corpora import CORPORA, HELD_OUT, Row, public_data  # noqa: E402 - the folder is no package: it is run, not installed
from examples import judged_text, read_examples, word_labels  # noqa: E402
from label_balance import Labelled, fit_both, fit_lean, gold_label  # noqa: E402
from linear_training import fit_linear  # noqa: E402
from near_copies import HeldOut, NearCopyError, refuse_near_copies  # noqa: E402
from train import train  # noqa: E402

from episodic_absa.backends.embedded.judgement.sentence_label import LabelEvidence  # noqa: E402
from episodic_absa.backends.embedded.model.trained_weights import read_linear_model  # noqa: E402
from episodic_absa.backends.embedded.text_reading import read_text  # noqa: E402

DATA = public_data()
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"there are no public datasets at {DATA}")
LONG = "The little room on the third floor had a view of the old harbour."


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        LONG.upper().replace(" ", "  "),
        "the little room, on the third floor... had a view of the old harbour",
        "They said the little room on the third floor had mice.",
    ],
)
def test_a_near_copy_of_a_held_out_text_is_refused(text: str) -> None:
    held_out = HeldOut([LONG])
    assert held_out.resembles(text)
    with pytest.raises(NearCopyError):
        refuse_near_copies(["something else", text], held_out)


def test_a_text_that_shares_a_few_words_is_not_refused() -> None:
    refuse_near_copies(["The little room on the second floor.", "방이 작아요"], HeldOut([LONG, "방이 아주 작아요"]))


def test_emoji_and_punctuation_resemble_no_text() -> None:
    refuse_near_copies(["👍", "...", "N/A"], HeldOut(["👎👎", "...", "!"]))


def test_no_training_file_is_held_out_and_none_is_measure_only() -> None:
    names = {corpus.file for corpus in CORPORA}
    assert all(".train." in name for name in names)
    assert names.isdisjoint(HELD_OUT)
    assert not any(name.startswith(("ko_kr3", "mams_acsa")) for name in names)


@pytest.mark.parametrize(
    ("text", "term", "expected"),
    [
        ("배송이 빨라요", "배송", ["배송"]),
        ("빠르다배송 좋아요", "배송", ["배송"]),
        ("배터리 수명이 길어요", "배터리 수명", ["배터리", "수명"]),
    ],
)
def test_korean_terms_are_aligned_to_morphemes(text: str, term: str, expected: list[str]) -> None:
    reading = read_text(text, "ko")
    start = text.index(term)
    gold = [{"aspect_term": term, "polarity": "positive", "span": {"start": start, "end": start + len(term)}}]
    labels = word_labels(reading, gold)
    assert [word.form for word, label in zip(reading.words, labels, strict=True) if label != "O"] == expected


def test_a_text_is_judged_as_a_whole_only_if_it_has_one_polarity() -> None:
    both = Row("Good food, bad service.", ({"aspect_term": "", "polarity": p} for p in ("positive", "negative")))  # type: ignore[arg-type]
    one = Row("Good food.", ({"aspect_term": "", "polarity": "positive"},))
    first, second = read_examples([Row(both.text, tuple(both.gold)), one], "en", None)
    assert judged_text(first) is None
    found = judged_text(second)
    assert found is not None
    assert found.polarity == "positive"


def test_a_linear_model_is_fitted_and_stored_the_same_each_time() -> None:
    rows = [[("good", 1.0), ("bias", 1.0)], [("bad", 1.0), ("bias", 1.0)], [("good", 1.0)], [("bad", 1.0)]]
    labels = ["positive", "negative", "positive", "negative"]
    stored = {fit_linear(rows, labels, ("positive", "negative"), penalty=1.0, min_count=1) for _ in range(2)}
    assert len(stored) == 1
    model = read_linear_model(stored.pop())
    assert model.probabilities([("good", 1.0)])["positive"] > 0.5 > model.probabilities([("bad", 1.0)])["positive"]


def _tiny_data(folder: Path) -> Path:
    folder.mkdir()
    texts = [("The soup was great.", "soup", "positive"), ("The bread was stale.", "bread", "negative")] * 4
    rows = [
        {
            "uid": str(number),
            "text": text,
            "gold_tuples": [
                {
                    "aspect_term": term,
                    "polarity": polarity,
                    "span": {"start": text.index(term), "end": text.index(term) + len(term)},
                }
            ],
        }
        for number, (text, term, polarity) in enumerate(texts)
    ]
    for name in ("mams_atsa.train.jsonl", "mabsa_hotel_en.train.jsonl"):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "mams_atsa.test.jsonl").write_text(json.dumps(rows[1]) + "\n")
    return folder


def test_training_twice_gives_the_same_bytes_and_leaves_near_copies_out(tmp_path: Path) -> None:
    data = _tiny_data(tmp_path / "data")
    everyday = tmp_path / "everyday"
    everyday.mkdir()
    sentences = ("# cafes", "The {scone-} was dry.", "Lovely {terrace+}!", "Never again. || -", "We went on Monday.")
    (everyday / "en_few.txt").write_text("\n".join(sentences) + "\n")
    hashes = []
    # Neither the order of sets nor the number of threads changes a byte. Threads that wait for each other shall sleep.
    for seed, threads in (("1", {"OPENBLAS_THREAD_TIMEOUT": "4"}), ("2", {"OPENBLAS_NUM_THREADS": "1"})):
        out = tmp_path / seed
        command = [sys.executable, str(TRAINING / "train.py"), "--data", str(data), "--out", str(out)]
        command += ["--everyday", str(everyday)]
        environment = {"PYTHONHASHSEED": seed, **threads}
        subprocess.run([*command, "--language", "en"], check=True, capture_output=True, env=environment)
        hashes.append({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir()})
    assert hashes[0] == hashes[1]
    manifest = json.loads((tmp_path / "1" / "manifest.json").read_text())
    sources = {source["file"]: source for source in manifest["trained_on"]}
    assert (sources["mams_atsa.train.jsonl"]["texts"], sources["mams_atsa.train.jsonl"]["left_out_as_near_copies"]) == (
        4,
        4,
    )
    assert sources["en_few.txt"]["texts"] == 4
    models = ("domain", "polarity", "everyday_polarity", "text", "opinion")
    taggers = {"tagger_en.crf.gz", "everyday_tagger_en.crf.gz"}
    assert set(manifest["files"]) == {f"{part}_en.json.gz" for part in models} | taggers
    domains = read_linear_model((tmp_path / "1" / "domain_en.json.gz").read_bytes())
    assert domains.classes == ("everyday", "hotel", "restaurant")


def test_the_everyday_weights_alone_can_be_trained_anew(tmp_path: Path) -> None:
    (tmp_path / "en_few.txt").write_text("The {scone-} was dry.\nLovely {terrace+}!\n")
    data, out = _tiny_data(tmp_path / "data"), tmp_path / "out"
    train(data, out, ["en"], everyday=tmp_path, documents=False)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    (tmp_path / "en_more.txt").write_text("The {bagel+} was still warm.\nA {bun-} like rubber.\n" * 2)
    train(data, out, ["en"], everyday=tmp_path, only_everyday=True)
    changed = {path.name for path in out.iterdir() if path.read_bytes() != before[path.name]}
    assert "everyday_tagger_en.crf.gz" in changed
    assert changed.isdisjoint({"tagger_en.crf.gz", "polarity_en.json.gz", "text_en.json.gz"})


@needs_data
def test_the_shipped_weights_name_the_data_they_were_trained_on() -> None:
    manifest = json.loads((ROOT / "src/episodic_absa/backends/embedded/weights/manifest.json").read_text())
    for source in manifest["trained_on"]:
        path = DATA / source["file"]
        if path.exists():
            assert hashlib.sha256(path.read_bytes()).hexdigest() == source["sha256"], source["file"]


@pytest.mark.parametrize(
    ("polarities", "document", "expected"),
    [
        (["positive", "neutral"], "", "positive"),
        (["positive", "negative"], "", "mixed"),
        (["neutral"], "", "neutral"),
        ([], "negative", "negative"),
        ([], "", ""),
    ],
)
def test_praise_and_blame_together_make_a_mixed_text(polarities: list[str], document: str, expected: str) -> None:
    gold = tuple({"aspect_term": "", "polarity": polarity} for polarity in polarities)
    assert gold_label(Row("text", gold, document)) == expected


def test_whoever_is_right_more_often_weighs_more_in_the_label() -> None:
    """The tuples are always right here; the text is right as often as not."""
    found = [
        Labelled(LabelEvidence(side, side * text, 0.0, has_contrast=False), "positive" if side > 0 else "negative")
        for side in (1.0, -1.0)
        for text in (1.0, -1.0)
    ]
    tuples, text = fit_lean(found)
    assert tuples > 1.0 > abs(text)


def test_a_second_side_that_is_mostly_wrong_asks_for_more_before_a_text_is_mixed() -> None:
    found = [
        Labelled(LabelEvidence(0.0, 0.0, weaker, has_contrast=False), label)
        for weaker, label in ((0.4, "positive"), (0.5, "negative"), (0.5, "mixed"), (0.9, "mixed"), (0.95, "mixed"))
    ]
    start, weaker_side, contrast = fit_both(found)
    assert start < 0 < weaker_side
    assert contrast == pytest.approx(0.0, abs=0.01)
