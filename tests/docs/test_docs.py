"""Every block of code and every command of the documentation runs, and prints what the page says it prints."""

import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.backends.llm.loopback_model import LoopbackModel, answer
from tests.docs.page_blocks import (
    BESIDE_THEM,
    PAGES,
    PROGRAM,
    ROOT,
    SITE,
    Command,
    anchors_of,
    commands_of,
    files_of,
    name_of,
    new_command_blocks,
    parts_of,
    prints_as_shown,
    python_of,
    sessions_of,
)
from tests.extras import require_extra
from tests.stored_lines import entries_of
from tests.test_public_api import lay_out_two_cells
from tests.warm_python import plain_environment, run_warm

DEFAULT_STORE = "memory/episodic_store.jsonl"
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
TOO_LONG = {
    "drill": "takes a minute; tests/contrib/drill runs it",
    "ray": "needs a cluster; tests/contrib/ray starts one",
    "--ray-address": "needs a cluster; tests/contrib/ray starts one",
    "--install-completion": "changes the reader's shell",
    "--show-completion": "looks for the shell that started it; tests/cli/test_help.py names one",
}
FINISHED = re.compile(r"results/(?:quickstart|trial|pilot|small-model|large-model)")
WITH_RESULTS = {page for page in SITE if any(FINISHED.match(w) for c in commands_of(page) for w in c.words)}
OF_OTHERS = {".", "vllm", "ollama", "llama-server", "ray", "apt-get", "kill", "ls", "cat"}
"""Programs that pages name and that are not ours to test."""
RUN_SESSIONS = """
import doctest, sys
sessions = doctest.DocTestParser().get_doctest(sys.argv[1], globals(), "page", None, None)
sys.exit(doctest.DocTestRunner().run(sessions).failed)
"""


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished runs that pages speak of, with few samples."""
    folder = tmp_path_factory.mktemp("results")
    done = run_warm(["-m", "episodic_absa", "run", lay_out_two_cells(folder)])
    assert done.returncode == 0, done.stderr
    for other in ("pilot", "small-model", "large-model"):
        shutil.copytree(folder / "results" / "quickstart", folder / "results" / other)
    return folder


@pytest.fixture(scope="session")
def model() -> Iterator[LoopbackModel]:
    """A model server that finds nothing in any review."""
    with LoopbackModel(answer('{"pairs": []}')) as server:
        yield server


@pytest.fixture
def desk(page: Path, tmp_path: Path, model: LoopbackModel, request: pytest.FixtureRequest) -> Path:
    """The folder of a reader who has typed nothing yet: reviews, a study, and runs if the page speaks of any."""
    if page in WITH_RESULTS:
        shutil.copytree(request.getfixturevalue("results"), tmp_path, dirs_exist_ok=True)
    if page.parent == ROOT:
        (tmp_path / "experiments").symlink_to(ROOT / "experiments")
    rows = "text,gold\nThe soup was rich.,soup:positive\n방은 넓은데 직원이 불친절했어요.,방:positive; 직원:negative\n"
    (tmp_path / "reviews.csv").write_text(rows, "utf-8")
    (tmp_path / "reviews.txt").write_text("The soup was rich.\nThe waiter was rude.\n", "utf-8")
    (tmp_path / "verdicts.jsonl").write_text('{"uid": "r1", "verdict": "right", "aspect": null}\n', "utf-8")
    study = {
        "run_id": "study",
        "data": {"allowed_roots": ["."], "valid_file": "reviews.csv"},
        "eval": {"gold_column": "gold"},
        "experiment": {"conditions": ["C1", "C2"], "orders": 2, "seeds": [42]},
    }
    (tmp_path / "study.yaml").write_text(json.dumps(study), "utf-8")  # JSON is YAML
    for name, shown_text in files_of(page).items():
        text = shown_text
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        for shown, tested in {"base_url: ollama": f'base_url: "{model.base_url}"', "orders: 5": "orders: 1"}.items():
            text = text.replace(shown, tested)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_and_commands_on_the_page_run_and_print_what_the_page_shows(
    page: Path, desk: Path, model: LoopbackModel
) -> None:
    code, printed = python_of(page)
    if code:
        script = desk / "page.py"
        script.write_text(code, encoding="utf-8")
        done = run_warm([script], cwd=desk)
        assert done.returncode == 0, done.stderr
        assert done.stdout == printed
    shell = Shell(desk, model.base_url)
    for command in (command for typed in new_command_blocks(page) for command in typed):
        if not command.not_run and not TOO_LONG.keys() & set(command.words):
            shell.type(command)


class Shell:
    """Runs the commands of a page one after the other, as its reader does."""

    def __init__(self, folder: Path, server: str) -> None:
        self.folder = folder
        self.server = server
        # A hosted model is reached at the address in OPENAI_BASE_URL: here a server that costs nothing.
        self.environment = {**plain_environment(), "OPENAI_BASE_URL": server, "OPENAI_API_KEY": "placeholder-of-a-test"}

    def type(self, command: Command) -> None:
        first, *arguments = command.words
        if first == PROGRAM:
            self._run(arguments, command)
        elif first == "cd":
            self.folder /= arguments[0]
        elif first == "export":
            assert re.fullmatch(r"[A-Z_]+=\S+", arguments[0])
        elif first == "make":
            assert arguments[0] in TARGETS
        elif first == "pip":
            named = re.findall(r"\[([\w,]+)\]", arguments[-1])
            assert {extra for names in named for extra in names.split(",")} <= EXTRAS.keys()
        elif first == "python":
            path = arguments[1].replace(".", "/") if arguments[0] == "-m" else arguments[0]
            assert (ROOT / path).exists() or (ROOT / f"{path}.py").exists()
        else:
            assert first in OF_OTHERS, f"the test does not know what to do with: {shlex.join(command.words)}"

    def _run(self, arguments: list[str], command: Command) -> None:
        stdin = b""
        if "<" in arguments:
            stdin = (self.folder / arguments.pop()).read_bytes()
            arguments.pop()
        if arguments[0] == "memory" and not command.fails and not (self.folder / DEFAULT_STORE).exists():
            self._run(["analyze", "--condition", "C2", "The room was clean, but the breakfast was cold."], Command(()))
        # The names of local servers stand for ports that a test does not open.
        arguments = [self.server if word in ("ollama", "vllm", "llama.cpp") else word for word in arguments]
        environment = plain_environment() if command.fails else self.environment
        done = run_warm(["-m", "episodic_absa", *arguments], cwd=self.folder, env=environment, stdin=stdin)
        assert bool(done.returncode) == command.fails, f"{shlex.join(arguments)}: {done.stderr}"
        printed = f"{done.stdout}{done.stderr}".replace(f"{self.folder}/", "") if command.fails else done.stdout
        if command.printed:
            assert prints_as_shown(printed, command.printed), f"{shlex.join(arguments)} prints:\n{printed}"


@pytest.mark.parametrize("page", [page for page in SITE if parts_of(page)], ids=name_of)
def test_code_that_the_page_shows_of_a_file_stands_in_that_file(page: Path) -> None:
    for code, file in parts_of(page).items():
        assert code in file.read_text("utf-8")


@pytest.mark.parametrize("page", [page for page in SITE if sessions_of(page)], ids=name_of)
def test_sessions_on_the_page_run_and_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    sessions = sessions_of(page)
    if "results_frame" in sessions:
        require_extra("pandas")
    script = tmp_path / "page.py"
    script.write_text(f"{python_of(page)[0]}\n{RUN_SESSIONS}", "utf-8")
    done = run_warm([script, sessions], cwd=tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("page", [*PAGES, *BESIDE_THEM], ids=name_of)
def test_links_of_the_page_lead_to_files_and_headings_that_exist(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text("utf-8"))
    targets = [(page.parent / file if file else page, anchor) for file, anchor in links]
    assert [target for target, _ in targets if not target.exists()] == []
    assert [(target.name, anchor) for target, anchor in targets if anchor and anchor not in anchors_of(target)] == []


def test_the_memory_runs_in_a_foreign_agent_loop_of_under_forty_lines(tmp_path: Path) -> None:
    example = ROOT / "examples" / "memory_elsewhere.py"
    assert len(example.read_text(encoding="utf-8").splitlines()) < 40
    store = tmp_path / "episodic_store.jsonl"
    done = run_warm([example, store])
    assert done.returncode == 0, done.stderr
    first_en, second_en, first_ko, second_ko = done.stdout.splitlines()
    assert "[Similar case: " not in first_en
    assert "[비슷한 사례: " not in first_ko
    assert "[Similar case: " in second_en
    assert "[비슷한 사례: " in second_ko
    assert len(entries_of(store)) == 4
