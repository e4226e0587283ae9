"""The weights are what their manifest says, or the engine says what is wrong and what to do."""

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from episodic_absa.backends.embedded import EmbeddedEngine
from episodic_absa.backends.embedded.model.trained_weights import MANIFEST, SHIPPED, TrainedWeights, weights_sha256
from episodic_absa.backends.embedded.model.weighing import Weighed, weigh
from episodic_absa.errors import ConfigError
from episodic_absa.vocabulary import Language


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SHIPPED, tmp_path / "weights"))


def weigh_with(folder: Path, text: str, language: Language) -> Weighed:
    return weigh(EmbeddedEngine(TrainedWeights(folder)).read(text, language))


def test_the_manifest_lists_every_file_with_its_hash_and_where_it_came_from() -> None:
    manifest = json.loads((SHIPPED / MANIFEST).read_text())
    found = {path.name: path for path in SHIPPED.iterdir() if path.name != MANIFEST}
    assert set(manifest["files"]) == set(found)
    for name, path in found.items():
        assert manifest["files"][name]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert manifest["bytes"] == sum(path.stat().st_size for path in found.values()) < 10_000_000
    assert manifest["left_out_domain"] is None
    assert {one["licence"] for one in manifest["trained_on"]} == {"Apache-2.0", "CC0-1.0", "MIT"}
    assert not any("kr3" in one["file"] or "acsa" in one["file"] for one in manifest["trained_on"])


def test_no_weight_file_holds_a_sentence() -> None:
    for path in SHIPPED.glob("*.json.gz"):
        names = json.loads(gzip.decompress(path.read_bytes()))["names"]
        # Pairs of words are the longest thing a feature names; some words hold signs themselves.
        assert max(len(name.split()) for name in names) <= 4, path.name


@pytest.mark.parametrize("name", ["tagger_en.crf.gz", "polarity_en.json.gz", MANIFEST])
def test_a_missing_file_is_named(copied: Path, name: str) -> None:
    (copied / name).unlink()
    with pytest.raises(ConfigError, match=r"cannot be read.*train") as error:
        weigh_with(copied, f"The room was clean. {name}", "en")
    assert error.value.path == copied / name


@pytest.mark.parametrize("name", ["tagger_ko.crf.gz", "text_ko.json.gz"])
def test_a_damaged_file_is_refused(copied: Path, name: str) -> None:
    content = bytearray((copied / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copied / name).write_bytes(content)
    with pytest.raises(ConfigError, match="damaged") as error:
        weigh_with(copied, f"방이 깨끗해요. {name}", "ko")
    assert error.value.path == copied / name


def test_a_file_that_is_no_model_is_refused_even_if_listed(copied: Path) -> None:
    manifest = json.loads((copied / MANIFEST).read_text())
    for name in ("tagger_en.crf.gz", "domain_en.json.gz"):
        (copied / name).write_bytes(b"no model")
        manifest["files"][name]["sha256"] = hashlib.sha256(b"no model").hexdigest()
    (copied / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(ConfigError, match="damaged"):
        weigh_with(copied, "The room was clean, they said.", "en")


def test_a_broken_manifest_is_refused(copied: Path) -> None:
    (copied / MANIFEST).write_text("[]")
    with pytest.raises(ConfigError, match="manifest"):
        weigh_with(copied, "The room was clean, I said.", "en")


def test_other_weights_are_another_configuration(copied: Path) -> None:
    assert weights_sha256(copied) == weights_sha256(SHIPPED)
    (copied / MANIFEST).write_text("{}")
    assert weights_sha256(copied) != weights_sha256(SHIPPED)
    assert len(EmbeddedEngine().fingerprint) == 64
    assert EmbeddedEngine(TrainedWeights(copied)).fingerprint != EmbeddedEngine().fingerprint


def test_the_answer_does_not_depend_on_what_was_read_before() -> None:
    texts = ["The staff was rude.", "Great screen, weak battery.", "We loved the view from the room."]
    program = (
        "import sys, json\n"
        "from episodic_absa.backends.embedded import EmbeddedEngine\n"
        "from episodic_absa.backends.embedded.model.weighing import weigh, weighed_polarity\n"
        "engine, texts = EmbeddedEngine(), json.loads(sys.argv[1])\n"
        "readings = [engine.read(text, 'en') for text in texts]\n"
        "found = {one.text: [weigh(one).shares, weighed_polarity(one, one.text.split()[1])] for one in readings}\n"
        "print(json.dumps(found, sort_keys=True))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, json.dumps(order)],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for order, seed in ((texts, "1"), (texts[::-1], "2"))
    }
    assert len(outputs) == 1


def test_help_loads_neither_tagger_nor_numbers() -> None:
    program = (
        "import sys, episodic_absa.cli.app\n"
        "print([name for name in ('pycrfsuite', 'numpy', 'scipy', 'kiwipiepy') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert result.stdout.strip() == "[]"
