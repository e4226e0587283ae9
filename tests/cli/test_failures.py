import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.stored_lines import entries_of, rewrite

from episodic_absa.memory import MemoryStore

Cli = Callable[..., subprocess.CompletedProcess[str]]
MakeStore = Callable[..., Path]

COMMANDS = [("list",), ("show", "1"), ("stats",), ("check",), ("repair",), ("compact",)]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_store_is_named_and_nothing_is_created(cli: Cli, tmp_path: Path, command: tuple[str, ...]) -> None:
    before = sorted(tmp_path.rglob("*"))
    done = cli("memory", *command)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: there is no store at memory/episodic_store.jsonl; ")
    assert "--store" in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_a_directory_is_not_a_store(cli: Cli, tmp_path: Path, command: tuple[str, ...]) -> None:
    done = cli("memory", *command, "--store", tmp_path)
    assert done.returncode == 2
    assert "is a directory; a store is one .jsonl or .sqlite file" in done.stderr


@pytest.mark.parametrize("command", [("list",), ("stats",), ("check",), ("show", "1")])
def test_reading_leaves_nothing_behind(
    cli: Cli, make_store: MakeStore, tmp_path: Path, command: tuple[str, ...]
) -> None:
    store = make_store(plain=1)
    before = sorted(tmp_path.rglob("*"))
    assert cli("memory", *command, "--store", store).returncode == 0
    assert sorted(tmp_path.rglob("*")) == before


def test_the_default_store_lies_below_the_working_directory(cli: Cli, make_store: MakeStore, tmp_path: Path) -> None:
    make_store(plain=1, path=tmp_path / "elsewhere" / "memory" / "episodic_store.jsonl")
    assert "epi_000001" in cli("memory", "list").stdout


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_store_is_an_error_without_a_traceback(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=1)
    store.chmod(0)
    for command in COMMANDS:
        done = cli("memory", *command, "--store", store)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


def test_an_error_is_one_line_however_narrow_the_terminal(cli: Cli) -> None:
    done = cli("memory", "list", env={"COLUMNS": "30"})
    assert done.stderr.count("\n") == 1


def test_an_error_is_red_where_colour_is_wanted(cli: Cli) -> None:
    assert "\x1b[1;31merror: " in cli("memory", "list", env={"FORCE_COLOR": "1"}).stderr
    assert "\x1b" not in cli("memory", "list").stderr
    without = cli("memory", "list", env={"FORCE_COLOR": "1", "NO_COLOR": "1"})
    assert not re.search(r"\x1b\[[\d;]*3\d", without.stderr)


def test_an_output_without_korean_shows_escapes_instead_of_failing(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=1)
    done = cli("memory", "show", 1, "--store", store, "--json", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "\\ubc30\\uc1a1" in done.stdout
    assert cli("memory", "show", 1, "--store", store, env={"PYTHONIOENCODING": "ascii"}).returncode == 0


def test_a_reader_that_leaves_early_causes_no_traceback(make_store: MakeStore) -> None:
    store = make_store(plain=1)
    (line,) = entries_of(store)
    rewrite(store, [line.replace(b"epi_000001", b"epi_%06d" % n) for n in range(1, 1001)])
    for extra in ([], ["--json"]):
        with subprocess.Popen(
            [sys.executable, "-m", "episodic_absa", "memory", "list", "-n", "1000", "--store", str(store), *extra],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.read(1)
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(timeout=60) == 1


def test_a_reader_that_never_reads_causes_no_traceback(make_store: MakeStore) -> None:
    readable, writable = os.pipe()
    os.close(readable)
    done = subprocess.run(
        [sys.executable, "-m", "episodic_absa", "memory", "list", "--json", "--store", str(make_store(plain=1))],
        stdout=writable,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    os.close(writable)
    assert (done.returncode, done.stderr) == (1, b"")


def test_an_interrupt_ends_quietly(make_store: MakeStore) -> None:
    store = make_store(plain=1)
    with (
        MemoryStore(store) as holder,
        holder.dialect.writing(),
        subprocess.Popen(
            [sys.executable, "-m", "episodic_absa", "--verbose", "feedback", str(store), "toy-0001", "right"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        assert process.stderr is not None
        # From here on it waits for the writer's place, which we hold.
        assert b"reading" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, rest = process.communicate(timeout=60)
    assert (process.returncode, out, rest) == (130, b"", b"")


def test_verbose_reports_the_file_on_stderr_only(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=1)
    loud, quiet = (cli(*options, "memory", "list", "--store", store) for options in (["--verbose"], []))
    assert loud.stderr == f"info: reading {store}\n"
    assert quiet.stderr == ""
    assert loud.stdout == quiet.stdout


def test_a_traceback_and_a_log_line_hold_no_credential() -> None:
    code = (
        "import logging\n"
        "from episodic_absa.cli import app\n"
        "def fail():\n"
        "    app._configure_logging(logging.INFO)\n"
        "    for name in ('episodic_absa.x', 'asyncio'):\n"
        "        logging.getLogger(name).warning('lost %s', 'http://ann:hidden-1@h/v1')\n"
        "    raise KeyError('https://h/v1?api_key=hidden-2')\n"
        "app.app = fail\n"
        "app.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert done.returncode == 1
    assert "warning: lost http://[credentials]@h/v1\nlost http://[credentials]@h/v1\n" in done.stderr
    assert "KeyError: 'https://h/v1?api_key=[credentials]'" in done.stderr
    assert "hidden" not in done.stderr
