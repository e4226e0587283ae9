from pathlib import Path

import pytest

from episodic_absa.cli.init.new_study import study_name, write_study
from episodic_absa.errors import ConfigError
from episodic_absa.runs.config import load_experiment


@pytest.mark.parametrize("name", ["My study: phones", "__a__b__", "123", "null", "한국어 연구", "-"])
def test_any_folder_name_becomes_a_run_id(tmp_path: Path, name: str) -> None:
    study = write_study(tmp_path / name)
    assert load_experiment(study.files[0]).file.run_id == study.name == study_name(tmp_path / name)


def test_an_empty_folder_is_filled_and_a_file_is_refused(tmp_path: Path) -> None:
    assert len(write_study(tmp_path).files) == 3
    with pytest.raises(ConfigError, match="is a file; name a new folder"):
        write_study(tmp_path / "README.md")


def test_a_folder_with_any_file_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / ".hidden").touch()
    with pytest.raises(ConfigError, match="holds files already"):
        write_study(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".hidden"]
