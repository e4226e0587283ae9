"""Files of a cell are hashed while they are written; what was hashed is not read again."""

import hashlib
from pathlib import Path

import pytest

from episodic_absa.runs.committed.growing_files import GrowingFiles, GrowingStore
from episodic_absa.runs.committed.growing_hash import first_difference, hash_of
from episodic_absa.runs.kept_samples import KeptSamples
from episodic_absa.schemas.run_files.journal_line import CommittedSample, FileState, JournalLine

NAME = "outputs.jsonl"


def state_of(content: bytes) -> FileState:
    return FileState(bytes=len(content), sha256=hashlib.sha256(content).hexdigest()[:16])


def test_a_continued_file_is_read_once_and_then_never_again(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"first\ntorn")
    files = GrowingFiles(tmp_path)
    assert files.open(NAME, len(b"first\n"))
    files.append(NAME, "둘째\n")
    # If the file were read again, this would show in the hash.
    with open(tmp_path / NAME, "r+b") as file:
        file.write(b"F")
    files.append(NAME, "third\n")
    files.close()
    assert files.state(NAME) == state_of("first\n둘째\nthird\n".encode())
    assert (tmp_path / NAME).read_bytes() == "First\n둘째\nthird\n".encode()


def test_of_a_store_only_what_was_added_is_read(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    store = GrowingStore(path)
    assert store.state() == state_of(b"")
    for content in (b"1\n", b"1\n2\n", b"X\n2\n3\n"):
        path.write_bytes(content)
        state = store.state()
    assert state == state_of(b"1\n2\n3\n")
    path.write_bytes(b"3\n")
    assert store.state() == state_of(b"3\n"), "a store that was rewritten is read anew"


def test_the_first_sample_that_a_file_does_not_hold_is_found(tmp_path: Path) -> None:
    path = tmp_path / NAME
    states = [state_of(content) for content in (b"", b"1\n", b"1\n2\n", b"1\n2\n3\n")]
    path.write_bytes(b"1\n2\n3\nmore")
    assert first_difference(path, states) is None
    path.write_bytes(b"1\nX\n3\n")
    assert first_difference(path, states) == 2
    path.write_bytes(b"1\n2\n")
    assert first_difference(path, states) == 3
    assert first_difference(tmp_path / "missing", states) == 1
    assert first_difference(path, [states[2], states[1]]) == 1, "a journal whose sizes descend was edited"
    assert hash_of(path).state == states[2]


def test_kept_samples_that_were_changed_run_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / NAME).write_text('{"uid":"a"}\n{"uid":"b"}\n{"uid":"c"}\n', "utf-8")
    entries = [
        JournalLine(sample_index=place, uid=uid, offsets={NAME: 12 * (place + 1)}) for place, uid in enumerate("abc")
    ]
    kept = KeptSamples(tmp_path, [NAME])
    assert kept.set_aside(entries, [0]) == kept.load()
    assert kept.load()[2] == CommittedSample(sample_index=2, uid="c", lines={NAME: '{"uid":"c"}\n'})
    [copy] = [path for path in tmp_path.iterdir() if path.name != NAME]
    content = copy.read_bytes()
    for place in range(0, len(content), 5):
        copy.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert all(sample.lines == {NAME: f'{{"uid":"{sample.uid}"}}\n'} for sample in kept.load().values())
    assert "is not as the run wrote it; the samples that it kept run again" in caplog.text
