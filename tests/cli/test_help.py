import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ("memory", "--help"), ("memory", "list", "--help")])
def test_help_is_given_at_every_level(cli: Cli, arguments: tuple[str, ...]) -> None:
    done = cli(*arguments)
    assert done.returncode == 0
    assert "Usage: " in done.stdout
    assert done.stderr == ""


def test_help_names_every_command_and_the_exit_codes(cli: Cli) -> None:
    told = cli("--help").stdout
    assert {"conditions", "memory", "plan"} <= set(told.split())
    assert "Exit codes: 0 done; 1 done, but something failed" in told
    assert "and the evidence in the text." in " ".join(told.split())
    assert {"list", "show", "stats", "check", "repair", "compact"} <= set(cli("memory", "--help").stdout.split())


@pytest.mark.parametrize("arguments", [["--help"], ["memory", "--help"], ["memory", "list", "--help"]])
def test_help_waits_for_no_heavy_library(arguments: list[str]) -> None:
    look = (
        "import sys, episodic_absa.cli as cli\n"
        f"sys.argv = ['episodic-absa', *{arguments!r}]\n"
        "try:\n    cli.main()\n"
        "finally:\n    print(*{'pydantic', 'kiwipiepy', 'numpy', 'rich', 'yaml'} & set(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "\n")


def test_the_version_is_that_of_the_installed_package(cli: Cli) -> None:
    assert cli("--version").stdout == f"episodic-absa {version('episodic-absa')}\n"


def test_the_console_script_is_the_same_program() -> None:
    script = f"{sys.prefix}/bin/episodic-absa"
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == f"episodic-absa {version('episodic-absa')}\n"


def test_an_unknown_command_is_bad_usage(cli: Cli) -> None:
    done = cli("memorise")
    assert done.returncode == 2
    assert "memorise" in done.stderr
    assert "Traceback" not in done.stderr


def completed(*words: str) -> list[str]:
    """Ask the program for completions as bash does, and make sure that no heavy library is loaded for it."""
    look = (
        "import sys, episodic_absa.cli as cli\n"
        "sys.argv = ['episodic-absa']\n"
        "try:\n    cli.main()\n"
        "finally:\n    print(*{'kiwipiepy', 'numpy', 'yaml'} & set(sys.modules), file=sys.stderr)\n"
    )
    asked = {
        "_EPISODIC_ABSA_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["episodic-absa", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [sys.executable, "-c", look], env=os.environ | asked, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "\n")
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("me",), ["memory"]),
        (("pl",), ["plan"]),
        (("plan", "--order"), ["--order-sd"]),
        (("memory", "re"), ["repair"]),
        (("analyze", "--language", ""), ["ko", "en", "other"]),
        (("conditions", "v1"), ["v1_1", "v1_2", "v1_3"]),
        (("run", "exp"), []),  # the shell completes the names of files
    ],
)
def test_a_shell_completes_commands_options_and_words(words: tuple[str, ...], offered: list[str]) -> None:
    assert completed(*words) == offered


def ask_for_completion(option: str, home: Path) -> str:
    """Return what the program prints when it is asked for its completion for bash."""
    done = subprocess.run(
        [f"{sys.prefix}/bin/episodic-absa", option, "bash"],
        # Whatever started the tests: the shell is named, not detected.
        env=os.environ | {"HOME": str(home), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_completion_is_installed_for_a_shell(tmp_path: Path) -> None:
    ask_for_completion("--install-completion", tmp_path)
    installed = (tmp_path / ".bash_completions" / "episodic-absa.sh").read_text()
    assert "complete -o default -F _episodic_absa_completion episodic-absa" in installed
    assert "episodic-absa.sh" in (tmp_path / ".bashrc").read_text()
