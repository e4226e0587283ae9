"""The real command on real reviews. Few processes, several reviews each: the Korean analyser takes seconds to load."""

import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.warm_python import WarmProcess, run_warm

from episodic_absa.schemas.absa import FinalTuple

Cli = Callable[..., subprocess.CompletedProcess[str]]

KOREAN = "서비스는 친절했지만 음식은 별로였어"
ENGLISH = "The battery lasts long, but the screen is too dark."
HOSTILE = "[bold red]great[/] food \x1b[31m\x1b]0;owned\x07 \u202e 👨‍👩‍👧 [link=x]y[/link]\tand " + "가나다" * 60
NOTE = "embedded engine (one small reader, no LLM); --backend openai:MODEL uses one"
SECTIONS = ("Stage1", "Memory", "Debate", "Stage2", "Candidates", "Adoption", "Moderator", "Store", "Calls")


def run_analyze(
    directory: Path, *arguments: object, stdin: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[str]:
    unwanted = ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "OPENAI_API_KEY")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    command = ["-m", "episodic_absa", "analyze", *arguments]
    done = run_warm(command, cwd=directory, env=kept | environment, stdin=stdin)
    # A machine that is busy enough makes it report progress; that is no complaint.
    complaints = re.sub(r"(?m)^analysed \d+ of \d+\n", "", done.stderr)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout, complaints)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("analyze")


@pytest.fixture(scope="module")
def pages(directory: Path) -> subprocess.CompletedProcess[str]:
    return run_analyze(directory, KOREAN, ENGLISH, "정말 안 좋아요", HOSTILE, "😀", COLUMNS="80")


def test_a_korean_review_becomes_a_table_with_signs_and_evidence(pages: subprocess.CompletedProcess[str]) -> None:
    assert (pages.returncode, pages.stderr) == (0, "")
    first = pages.stdout.partition("2. ")[0]
    assert first.startswith(f"1. {KOREAN}\n")
    rows = [line.split() for line in first.splitlines()]
    assert ["서비스", "+", "positive", "0.70", "친절했지만"] in rows
    assert ["음식", "-", "negative", "0.61", "별로였어"] in rows
    assert ["label", "±", "mixed", "0.61"] in rows


def test_an_english_review_and_an_implicit_opinion_follow(pages: subprocess.CompletedProcess[str]) -> None:
    rows = [line.split() for line in pages.stdout.splitlines()]
    assert any(row[:3] == ["battery", "+", "positive"] for row in rows)
    assert any(row[:3] == ["screen", "-", "negative"] for row in rows)
    assert any(row[:3] == ["(implicit)", "-", "negative"] for row in rows)


def test_a_review_cannot_control_the_terminal(pages: subprocess.CompletedProcess[str]) -> None:
    assert not set("\x1b\x07\t\u202e") & set(pages.stdout)
    assert "[bold red]great[/] food" in pages.stdout
    assert "👨‍👩‍👧 [link=x]y[/link]" in pages.stdout
    assert pages.stdout.count("가나다") >= 50
    assert max(map(cell_len, pages.stdout.splitlines())) <= 80


def test_without_memory_nothing_is_left_behind(pages: subprocess.CompletedProcess[str], tmp_path: Path) -> None:
    assert pages.returncode == 0
    assert run_analyze(tmp_path, "good food").returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_json_is_the_line_of_a_run_and_the_text(tmp_path: Path) -> None:
    reviews = tmp_path / "reviews.txt"
    reviews.write_text(f"{KOREAN}\n\n   \n{ENGLISH}\n", encoding="utf-8")
    done = run_analyze(tmp_path, "--file", reviews, "--json", "--seed", 7)
    assert (done.returncode, done.stderr) == (0, "")
    korean, english = map(json.loads, done.stdout.splitlines())
    told = "uid status stage1 debate stage2 patch_log decision adoption moderator final_result meta sample_index text"
    assert set(korean) == set(told.split())
    assert [(output["sample_index"], output["text"], output["status"]) for output in (korean, english)] == [
        (0, KOREAN, "ok"),
        (1, ENGLISH, "ok"),
    ]
    tuples = korean["final_result"]["final_tuples"]
    assert [(final_tuple["aspect_term"], final_tuple["polarity"]) for final_tuple in tuples] == [
        ("서비스", "positive"),
        ("음식", "negative"),
    ]
    assert set(tuples[0]) == set(FinalTuple.model_fields)
    assert {output["meta"]["language_code"] for output in (korean, english)} == {"ko", "en"}
    assert korean["meta"]["seed"] == 7
    assert korean["uid"].startswith("analyze-")
    assert done.stdout.splitlines()[0] == json.dumps(korean, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def test_standard_input_holds_one_review_per_line(tmp_path: Path) -> None:
    stdin = "\ufeffgood food\r\n\r\nbad\u2028screen\x0c\n".encode()
    done = run_analyze(tmp_path, "nice staff", "-", "--json", "--language", "other", stdin=stdin)
    lines = [json.loads(line) for line in done.stdout.removesuffix("\n").split("\n")]
    assert [line["text"] for line in lines] == ["nice staff", "good food", "bad\u2028screen\x0c"]
    assert {line["meta"]["language_code"] for line in lines} == {"other"}


def test_colour_appears_only_if_it_is_wanted(tmp_path: Path) -> None:
    coloured = run_analyze(tmp_path, "good food", FORCE_COLOR="1", COLUMNS="80").stdout
    plain = run_analyze(tmp_path, "good food", FORCE_COLOR="1", NO_COLOR="1", COLUMNS="80").stdout
    assert "\x1b[32m+ positive" in coloured
    assert "\x1b[3" not in plain
    assert "+ positive" in plain


def test_the_memory_writes_and_advises_the_next_similar_review(tmp_path: Path) -> None:
    store = tmp_path / "elsewhere" / "store.jsonl"
    reviews = ("The food was not good, but I liked it.", "The room was not clean, but I liked it.")
    done = run_analyze(tmp_path, *reviews, "--condition", "C2", "--store", store, "--explain", COLUMNS="80")
    assert (done.returncode, done.stderr) == (0, "")
    assert store.read_text(encoding="utf-8").count("\n") >= 1
    first, _, second = done.stdout.partition("\n2. ")
    assert "no similar episode" in first
    assert "stored as epi_000001" in first
    assert "advisory " not in first
    assert "epi_000001" in second.partition("Debate")[0]
    assert "adv_000001" in second
    assert "look for two negating words that cancel out" in " ".join(second.split())
    assert "open (validator, structure) shown to epm, tan, cj, judge" in " ".join(second.split())


def test_an_explanation_has_every_section_within_the_width(tmp_path: Path) -> None:
    done = run_analyze(tmp_path, ENGLISH, "--explain", COLUMNS="80")
    assert done.returncode == 0
    rules = [line for line in done.stdout.splitlines() if line.endswith("───")]
    assert [rule.rstrip("─ ") for rule in rules if rule.strip("─ ")] == list(SECTIONS)
    assert max(map(cell_len, done.stdout.splitlines())) <= 80
    told = " ".join(done.stdout.split())
    assert "C1 memory off, may be shown to nobody" in told
    assert "not shown: not_exposed" in told
    assert "skipped: store_write_disabled" in told
    assert "8 (stage1 2, debate 4, stage2 2), 8 attempts, 0 cached" in told


@pytest.fixture(scope="module")
def recording(directory: Path) -> Path:
    """Answers for "good food" and nothing else."""
    done = run_analyze(directory, "good food", "--record", "made/recording.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    return directory / "made" / "recording.jsonl"


def test_one_failed_review_does_not_stop_the_others(tmp_path: Path, recording: Path) -> None:
    backend = ("--backend", f"replay:{recording}")
    done = run_analyze(tmp_path, "bad screen", "good food", *backend)
    assert done.returncode == 1
    assert done.stdout.startswith("2. good food\n")
    assert NOTE not in done.stdout
    assert done.stderr.startswith("error: review 1 of 2: the recording ")
    assert done.stderr.count("\n") == 1


def test_a_failed_review_has_its_json_line(tmp_path: Path, recording: Path) -> None:
    done = run_analyze(tmp_path, "bad screen", "good food", "--json", "--backend", f"replay:{recording}")
    assert done.returncode == 1
    failed, good = map(json.loads, done.stdout.splitlines())
    assert (good["status"], good["sample_index"]) == ("ok", 1)
    assert (failed["status"], failed["sample_index"], failed["text"]) == ("error", 0, "bad screen")
    assert failed["uid"].startswith("analyze-")
    assert failed["error"]["type"] == "provider_error"
    assert "holds no answer for joint" in failed["error"]["message"]


def test_the_only_review_that_fails_is_an_error(tmp_path: Path, recording: Path) -> None:
    done = run_analyze(tmp_path, "bad screen", "--json", "--uid", "u1", "--backend", f"replay:{recording}")
    assert done.returncode == 2
    assert json.loads(done.stdout)["uid"] == "u1"
    assert done.stderr.startswith("error: the recording ")


REFUSED: list[tuple[tuple[str, ...], str]] = [
    ((), "there is nothing to analyse; give a review, --file PATH, or - to read standard input"),
    (("good", " "), "review 2 is empty; "),
    (("-",), "standard input holds no review; one per line is expected"),
    (("--file", "missing.txt"), "cannot read the reviews missing.txt: No such file or directory"),
    (("--file", "latin1.txt"), "latin1.txt, line 2: not UTF-8"),
    ((b"\xff".decode(errors="surrogateescape"),), "the review is not valid UTF-8"),
    (("good", "--condition", "C9", "--record", "never.jsonl"), "unknown condition 'C9' in "),
    (("good", "--conditions", "nowhere.yaml"), "cannot read the conditions file nowhere.yaml"),
    (("good", "--backend", "parrot"), "unknown backend 'parrot'; choose embedded, openai:MODEL, "),
    (("good", "--backend", "openai:gpt"), "no key for OpenAI; set the environment variable OPENAI_API_KEY"),
    (("good", "--backend", "replay:missing"), "cannot read the recording missing"),
    (("good", "--base-url", "http://localhost:1"), "--base-url is for backends with a server"),
    (("good", "bad", "--uid", "u"), "--uid names one review, and there are 2"),
    (("good", "--json", "--explain"), "--explain is for people and --json for programs"),
    (("good", "--store", "."), ". is a directory; a store is one .jsonl or .sqlite file"),
    (("good", "--store", "s.jsonl"), "C1 neither reads nor writes a store; choose another --condition"),
]


def test_every_refusal_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "latin1.txt").write_bytes("good\ncaf\xe9\n".encode("latin-1"))
    # One process for all: each would spend its time on imports.
    told = _in_one_process(tmp_path, [arguments for arguments, _ in REFUSED])
    for (arguments, message), (code, out, err) in zip(REFUSED, told, strict=True):
        assert (arguments, code, out) == (arguments, 2, "")
        assert err.startswith(f"error: {message}")
        assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["latin1.txt"]


def _in_one_process(directory: Path, cases: list[tuple[str, ...]]) -> list[tuple[int, str, str]]:
    each = (
        "import contextlib, io, json, sys\n"
        "from episodic_absa.cli import main\n"
        "for arguments in json.loads(sys.argv[1]):\n"
        "    sys.argv = ['episodic-absa', 'analyze', *arguments]\n"
        "    out, err, code = io.StringIO(), io.StringIO(), 0\n"
        "    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):\n"
        "        try:\n            main()\n"
        "        except SystemExit as end:\n            code = end.code\n"
        "    print(json.dumps([code, out.getvalue(), err.getvalue()]))\n"
    )
    unwanted = ("COLUMNS", "FORCE_COLOR", "OPENAI_API_KEY")
    done = subprocess.run(
        [sys.executable, "-c", each, json.dumps(cases)],
        cwd=directory,
        env={name: value for name, value in os.environ.items() if name not in unwanted},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=True,
    )
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


def test_an_unknown_language_is_bad_usage(cli: Cli) -> None:
    done = cli("analyze", "good", "--language", "klingon")
    assert done.returncode == 2
    assert "klingon" in done.stderr


def test_progress_is_a_line_on_the_terminal_and_nowhere_else(tmp_path: Path) -> None:
    terminal, of_the_child = pty.openpty()
    command = ["-m", "episodic_absa", "analyze", "good food", "bad screen"]
    with WarmProcess(command, cwd=tmp_path, env=os.environ | {"TERM": "xterm"}, stderr=of_the_child) as process:
        os.close(of_the_child)
        out, _ = process.communicate()
    shown = os.read(terminal, 100_000).decode()
    os.close(terminal)
    assert "analysing" in shown
    assert "0/2" in shown
    assert "analysing" not in out.decode()


def test_an_interrupt_in_the_middle_ends_quietly(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        with subprocess.Popen(
            [sys.executable, "-m", "episodic_absa", "analyze", "a", "b", "--backend", "openai:m", "--base-url", url],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            server.settimeout(60)
            connection, _ = server.accept()
            with connection:
                assert connection.recv(1)
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


@pytest.mark.parametrize(
    ("example", "printed"),
    [
        ("analyze_one.py", ["battery\tpositive\t", "screen\tnegative\t", "label\tmixed\t"]),
        ("custom_backend.py", ["battery\tpositive", "screen\tnegative", "8 calls to mine:toy"]),
    ],
)
def test_the_example_runs(tmp_path: Path, example: str, printed: list[str]) -> None:
    path = Path(__file__).parents[3] / "examples" / example
    done = run_warm([path, ENGLISH], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.startswith(start) for line, start in zip(lines, printed, strict=True)] == [True] * 3
    assert list(tmp_path.iterdir()) == []
