"""The folder of weights: what is shipped is what the manifest names, and a damaged file is refused by its name."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from episodic_absa import ConfigError
from episodic_absa.reader.calibration import MonotoneMap, load_calibration
from episodic_absa.reader.reader import Reader, default_reader
from episodic_absa.reader.reading import TAGS
from episodic_absa.reader.weights_folder import MANIFEST, SHIPPED, WeightsFolder

MOST_BYTES = 28_000_000


def test_the_manifest_names_every_file_and_all_weights_stay_small() -> None:
    shipped = {path.relative_to(SHIPPED).as_posix(): path for path in SHIPPED.rglob("*") if path.is_file()}
    assert {*WeightsFolder().files, MANIFEST} == set(shipped)
    for name, digest in WeightsFolder().files.items():
        assert hashlib.sha256(shipped[name].read_bytes()).hexdigest() == digest, name
    assert sum(path.stat().st_size for path in shipped.values()) <= MOST_BYTES


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return shutil.copytree(SHIPPED, tmp_path / "weights")


@pytest.mark.parametrize("name", ["en/reader.onnx.gz", "en/tokenizer.json", "calibration.json"])
def test_a_damaged_or_missing_file_is_refused_by_its_name(copied: Path, name: str) -> None:
    path = copied / name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ConfigError, match=rf"{name}: its sha256 is not that of the manifest; reinstall"):
        Reader(WeightsFolder(copied)).read("The room was clean.")
    path.unlink()
    with pytest.raises(ConfigError, match=rf"{name}.*reinstall the package"):
        Reader(WeightsFolder(copied)).read("The room was clean.")


@pytest.mark.parametrize("content", [None, "", "{}", "[1]"])
def test_without_a_manifest_nothing_is_read(copied: Path, content: str | None) -> None:
    (copied / MANIFEST).unlink()
    if content is not None:
        (copied / MANIFEST).write_text(content)
    with pytest.raises(ConfigError, match=rf"{MANIFEST}.*reinstall the package"):
        _ = Reader(WeightsFolder(copied)).fingerprint


def test_the_fingerprint_follows_every_file(copied: Path) -> None:
    manifest = json.loads((copied / MANIFEST).read_text())
    assert Reader(WeightsFolder(copied)).fingerprint == default_reader().fingerprint
    for name in manifest["files"]:
        changed = {**manifest["files"], name: "0" * 64}
        (copied / MANIFEST).write_text(json.dumps({**manifest, "files": changed}))
        assert Reader(WeightsFolder(copied)).fingerprint != default_reader().fingerprint


def test_the_shipped_calibration_of_the_network_rises_and_names_a_tag() -> None:
    calibration = load_calibration(WeightsFolder(), "en")
    assert calibration.tag in TAGS
    assert 0.0 < calibration.threshold < 1.0
    for table in (calibration.known, calibration.unknown):
        assert len(table.scores) == len(table.probabilities)
        assert list(table.scores) == sorted(table.scores)
        said = [table(score / 100) for score in range(101)]
        assert said == sorted(said)
        assert 0.0 <= said[0] <= said[-1] <= 1.0


@pytest.mark.parametrize(
    ("score", "p"), [(-1.0, 0.1), (0.2, 0.1), (0.3, 0.2), (0.4, 0.3), (0.6, 0.6), (0.8, 0.9), (2.0, 0.9)]
)
def test_between_two_points_a_table_is_a_straight_line(score: float, p: float) -> None:
    assert MonotoneMap((0.2, 0.4, 0.8), (0.1, 0.3, 0.9))(score) == p


@pytest.mark.parametrize(("score", "p"), [(-0.5, 0.0), (0.12345, 0.123), (3.0, 1.0)])
def test_an_empty_table_leaves_a_score_as_it_is(score: float, p: float) -> None:
    assert MonotoneMap()(score) == p
