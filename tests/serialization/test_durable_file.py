"""What the program writes only its user may read, and an error of the disk names the file."""

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from episodic_absa.backends.cache.answer_file import AnswerFile
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.backends.replay import RecordingReplier
from episodic_absa.serialization.csv_text import replace_file
from episodic_absa.serialization.durable_file import (
    DurableFile,
    FsyncFailedError,
    make_private_directory,
    replace_durably,
)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_directories_that_are_made_are_private_and_others_keep_their_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private_directory(tmp_path / "a" / "b")
    make_private_directory(tmp_path / "a" / "b")
    assert [mode_of(path) for path in (tmp_path, tmp_path / "a", tmp_path / "a" / "b")] == [0o755, 0o700, 0o700]


def test_new_files_caches_and_recordings_are_private_and_files_that_the_user_names_follow_the_umask(
    tmp_path: Path,
) -> None:
    tmp_path.joinpath("shared").write_bytes(b"x")
    DurableFile(tmp_path / "appended").close()
    replace_durably(tmp_path / "replaced", b"x")
    replace_file(tmp_path / "table", "x")
    cache = AnswerFile(tmp_path / "made" / "cache.sqlite")
    RecordingReplier(EmbeddedReplier(), tmp_path / "made" / "recording.jsonl")
    private = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "shared"]
    assert {"cache.sqlite", "cache.sqlite-wal", "recording.jsonl"} <= {path.name for path in private}
    cache.close()
    assert {(path.name, mode_of(path)) for path in private if path.exists()} == {
        (path.name, 0o600) for path in private if path.exists()
    }
    replace_file(tmp_path / "named", "x", is_private=False)
    replace_durably(tmp_path / "retired", b"x", is_private=False)
    assert mode_of(tmp_path / "named") == mode_of(tmp_path / "retired") == mode_of(tmp_path / "shared")


def test_a_full_disk_names_the_file_and_leaves_it_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    replace_durably(path, b"old")
    file = DurableFile(path)
    with files_of_at_most(1_000):
        with pytest.raises(OSError, match=r"File too large: '.*/manifest\.json'"):
            replace_durably(path, b"x" * 5_000)
        with pytest.raises(OSError, match=r"File too large: '.*/manifest\.json'"):
            file.append(b"x" * 5_000, at=3)
    file.close()
    assert path.read_bytes() == b"old"
    assert not list(tmp_path.glob("*.new"))


def test_a_failed_sync_names_the_file(tmp_path: Path) -> None:
    class Failing(DurableFile):
        def sync(self) -> None:
            raise OSError(5, os.strerror(5))

    with pytest.raises(FsyncFailedError) as raised:
        Failing(tmp_path / "store").append(b"x", at=0)
    assert raised.value.filename == str(tmp_path / "store")
