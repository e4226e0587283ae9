"""How trained readers come into the package."""

import json
import sys
from pathlib import Path

import pytest

READER = Path(__file__).resolve().parents[2] / "training" / "reader"
sys.path.insert(0, str(READER))

from ship import FILES, LANGUAGES, OPTIONAL, ship  # noqa: E402 - the folder is no package: it is run, not installed

from episodic_absa.reader.calibration import load_calibration  # noqa: E402
from episodic_absa.reader.weights_folder import WeightsFolder  # noqa: E402


@pytest.fixture
def readers(tmp_path: Path) -> Path:
    for language in LANGUAGES:
        (tmp_path / language).mkdir()
        for name in sorted({*FILES} - OPTIONAL):
            (tmp_path / language / name).write_bytes(f"{language} {name}".encode())
    return tmp_path


def test_what_is_shipped_is_what_the_manifest_names(readers: Path, tmp_path: Path) -> None:
    table = {"scores": [0.2, 0.8], "probabilities": [0.1, 0.9]}
    (readers / "ko" / "known.json").write_text(json.dumps(table))
    (readers / "ko" / "settings.json").write_text(json.dumps({"tag": "no_tag", "known_up_to_tokens": 60}))
    ship(readers, tmp_path / "out", "a test")
    folder = WeightsFolder(tmp_path / "out")
    for name in folder.files:
        assert folder.content(name)
    assert folder.content("en/vectors.npz") == b"en vectors.npz"
    assert not folder.holds("en/vectors.tokenizer.json")
    korean, english = load_calibration(folder, "ko"), load_calibration(folder, "en")
    assert (korean.tag, korean.threshold, korean.known_up_to_tokens) == ("no_tag", 0.45, 60)
    assert (korean.map_of(60)(0.8), korean.map_of(61)(0.8), english.map_of(1)(0.8)) == (0.9, 0.8, 0.8)
    assert english.tag == "everyday"


def test_shipping_again_leaves_nothing_of_the_reader_before(readers: Path, tmp_path: Path) -> None:
    own = readers / "ko" / "vectors.tokenizer.json"
    own.write_bytes(b"pieces of terms")
    ship(readers, tmp_path / "out", "a test")
    first = WeightsFolder(tmp_path / "out")
    assert first.content("ko/vectors.tokenizer.json") == b"pieces of terms"
    own.unlink()
    ship(readers, tmp_path / "out", "a test")
    assert not WeightsFolder(tmp_path / "out").holds("ko/vectors.tokenizer.json")
    assert WeightsFolder(tmp_path / "out").fingerprint != first.fingerprint


def test_a_reader_without_a_network_is_not_shipped(readers: Path, tmp_path: Path) -> None:
    (readers / "en" / "reader.onnx.gz").unlink()
    with pytest.raises(FileNotFoundError, match=r"reader\.onnx\.gz"):
        ship(readers, tmp_path / "out", "a test")
