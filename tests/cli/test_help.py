import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version

import pytest

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ("memory", "--help"), ("memory", "list", "--help")])
def test_help_is_given_at_every_level(cli: Cli, arguments: tuple[str, ...]) -> None:
    done = cli(*arguments)
    assert done.returncode == 0
    assert "Usage: " in done.stdout
    assert done.stderr == ""


def test_help_names_every_command(cli: Cli) -> None:
    assert {"conditions", "memory"} <= set(cli("--help").stdout.split())
    assert {"list", "show", "stats", "check", "repair", "compact"} <= set(cli("memory", "--help").stdout.split())


@pytest.mark.parametrize("arguments", [["--help"], ["memory", "--help"], ["memory", "list", "--help"]])
def test_help_waits_for_no_heavy_library(arguments: list[str]) -> None:
    look = (
        "import sys, episodic_absa.cli as cli\n"
        f"sys.argv = ['episodic-absa', *{arguments!r}]\n"
        "try:\n    cli.main()\n"
        "finally:\n    print(*{'pydantic', 'kiwipiepy', 'numpy', 'yaml'} & set(sys.modules), file=sys.stderr)\n"
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
