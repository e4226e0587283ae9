"""A backend that a program passes in stands in manifest, banner and hash, and no other one finishes its cells."""

from pathlib import Path

import pytest
from tests.runs.small_grid import write_experiment

from episodic_absa import run_experiment
from episodic_absa.analysis.finished_run import load_run
from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.errors import ConfigError, RunDirectoryError
from episodic_absa.reports.run_report import REPORT
from episodic_absa.runs.config.experiment_config import load_experiment
from episodic_absa.verification.verify import verify


class Toy(EmbeddedReplier):
    """Answers as the embedded engine does and is something else."""

    name = "mine:toy"
    fingerprint = "0123456789abcdef" * 4


def written(folder: Path) -> Path:
    return write_experiment(folder, data={"limit": 3}, experiment={"conditions": ["C1"], "seeds": [42]})


def test_name_and_fingerprint_stand_in_manifest_banner_and_hash(tmp_path: Path) -> None:
    path = written(tmp_path)
    run = run_experiment(path, use_cache_file=False, backend=RepairingBackend(Toy()))
    manifest = load_run(run.path).cells[0].manifest
    assert (manifest.backbone.provider, manifest.backbone.model) == ("python", "mine:toy 0123456789abcdef")
    assert manifest.cfg_canonical["backbone"]["provider"] == "python"
    assert manifest.weights_sha256 is None
    assert not manifest.answers_shared
    assert "python:mine:toy 0123456789abcdef" in (run.path / REPORT).read_text("utf-8")
    assert verify(run.path).failures == ()


def test_another_backend_does_not_finish_its_cells(tmp_path: Path) -> None:
    path = written(tmp_path)
    run = run_experiment(path, use_cache_file=False, backend=RepairingBackend(Toy()))
    before = {file: file.read_bytes() for file in run.path.rglob("samples.jsonl")}
    with pytest.raises(RunDirectoryError, match=r"backbone\.provider \(was 'python', now 'embedded'\)"):
        run_experiment(path, use_cache_file=False)
    other = Toy()
    other.fingerprint = "f" * 64
    with pytest.raises(RunDirectoryError, match=r"was 'mine:toy 0123456789abcdef', now 'mine:toy ffffffffffffffff'"):
        run_experiment(path, use_cache_file=False, backend=RepairingBackend(other))
    assert {file: file.read_bytes() for file in before} == before
    assert run_experiment(path, use_cache_file=False, backend=RepairingBackend(Toy())).cells[0].samples == 3


def test_a_wrapper_of_what_the_config_names_is_that(tmp_path: Path) -> None:
    path = written(tmp_path)
    run = run_experiment(path, use_cache_file=False, backend=RepairingBackend(EmbeddedReplier()))
    assert load_run(run.path).cells[0].manifest.backbone.provider == "embedded"
    assert run_experiment(path, use_cache_file=False).cells[0].samples == 3


def test_no_config_names_a_backend_of_a_program(tmp_path: Path) -> None:
    path = write_experiment(tmp_path, backbone={"provider": "python", "model": "mine:toy"})
    with pytest.raises(ConfigError, match=r"stands for a backend that a program passes to run_experiment"):
        load_experiment(path)
