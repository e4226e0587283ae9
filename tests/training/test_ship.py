"""How trained readers come into the package."""

import json
import sys
from pathlib import Path

import pytest

READER = Path(__file__).resolve().parents[2] / "training" / "reader"
sys.path.insert(0, str(READER))

from ship import FILES, ship  # noqa: E402 - the folder is no package: it is run, not installed

from episodic_absa.reader.calibration import load_calibration  # noqa: E402
from episodic_absa.reader.weights_folder import WeightsFolder  # noqa: E402


@pytest.fixture
def readers(tmp_path: Path) -> Path:
    for language, files in FILES.items():
        (tmp_path / language).mkdir()
        for name in files:
            (tmp_path / language / name).write_bytes(f"{language} {name}".encode())
    return tmp_path


def test_what_is_shipped_is_what_the_manifest_names(readers: Path, tmp_path: Path) -> None:
    table = {"scores": [0.2, 0.8], "probabilities": [0.1, 0.9]}
    (readers / "en" / "known.json").write_text(json.dumps(table))
    (readers / "en" / "settings.json").write_text(json.dumps({"tag": "no_tag", "known_up_to_tokens": 60}))
    ship(readers, tmp_path / "out", "a test")
    folder = WeightsFolder(tmp_path / "out")
    for name in folder.files:
        assert folder.content(name)
    assert folder.content("en/vectors.npz") == b"en vectors.npz"
    english = load_calibration(folder, "en")
    assert (english.tag, english.threshold, english.known_up_to_tokens) == ("no_tag", 0.45, 60)
    assert (english.map_of(60)(0.8), english.map_of(61)(0.8)) == (0.9, 0.8)


def test_a_term_to_which_a_reader_gives_nothing_has_no_probability(readers: Path, tmp_path: Path) -> None:
    (readers / "en" / "known.json").write_text(json.dumps({"scores": [0.6, 0.9], "probabilities": [0.5, 0.9]}))
    (readers / "en" / "settings.json").write_text(json.dumps({"known_up_to_tokens": 60}))
    ship(readers, tmp_path / "out", "a test")
    known = load_calibration(WeightsFolder(tmp_path / "out"), "en").known
    assert (known(0.0), known(0.3), known(0.6)) == (0.0, 0.25, 0.5)


def test_shipping_again_leaves_nothing_of_the_readers_before(readers: Path, tmp_path: Path) -> None:
    ship(readers, tmp_path / "out", "a test")
    first = WeightsFolder(tmp_path / "out").fingerprint
    (tmp_path / "out" / "ko" / "stale.bin").write_bytes(b"of an older reader")
    (readers / "ko" / "vectors.npz").write_bytes(b"other vectors")
    ship(readers, tmp_path / "out", "a test")
    assert not (tmp_path / "out" / "ko" / "stale.bin").exists()
    assert WeightsFolder(tmp_path / "out").fingerprint != first


@pytest.mark.parametrize("name", ["en/reader.onnx.gz", "ko/tagger.crf.gz"])
def test_a_reader_that_lacks_a_part_is_not_shipped(readers: Path, tmp_path: Path, name: str) -> None:
    (readers / name).unlink()
    with pytest.raises(FileNotFoundError, match=Path(name).name):
        ship(readers, tmp_path / "out", "a test")
