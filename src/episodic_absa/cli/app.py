"""The commands of `episodic-absa`, and how errors, warnings and interrupts end them.

A command imports the modules it needs when it runs, so that `--help` does not wait for pydantic, rich tables or the
lexicon. Nowhere else do functions import modules of this package.
"""

import io
import logging
import os
import sys
import traceback
import warnings
from types import TracebackType
from typing import Annotated, NoReturn

import typer

from episodic_absa.cli.analyze.analyze_command import analyze
from episodic_absa.cli.check.check_command import check, verify
from episodic_absa.cli.compare.compare_command import compare
from episodic_absa.cli.feedback.feedback_command import feedback
from episodic_absa.cli.init.init_command import init
from episodic_absa.cli.memory.memory_commands import memory_app
from episodic_absa.cli.quick_help import QuickHelpGroup
from episodic_absa.cli.report.report_command import report
from episodic_absa.cli.run.join_command import join
from episodic_absa.cli.run.run_command import run
from episodic_absa.cli.shared_options import AsJson, complete_version
from episodic_absa.contrib_parts import contrib_part
from episodic_absa.errors import EpisodicAbsaError
from episodic_absa.serialization.redaction import redacted
from episodic_absa.serialization.terminal_text import visible_text

EXIT_BROKEN_PIPE = 1
EXIT_ERROR = 2
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="episodic-absa",
    cls=QuickHelpGroup,
    no_args_is_help=True,
    epilog="Exit codes: 0 done; 1 done, but something failed or was found wrong; 2 wrong usage or an error that "
    "stopped the command; 130 interrupted; 143 terminated.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # typer imports all of rich for a framed help, which takes longer than everything else
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(analyze)
app.command()(init)
app.command()(contrib_part("plan"))
app.command()(run)
app.command()(join)
app.command()(check)
app.command()(verify)
app.command()(report)
app.command()(compare)
app.command()(contrib_part("principles"))
app.command()(feedback)
app.add_typer(memory_app, name="memory")
app.command()(contrib_part("drill"))


def main() -> None:
    """Run the command line. Errors become one line on stderr; only a bug shows a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot encode Korean shows escapes instead of a UnicodeEncodeError.
            stream.reconfigure(errors="backslashreplace")
    sys.excepthook = _show_bug
    warnings.showwarning = _show_warning
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except EpisodicAbsaError as error:
        _fail(str(error))
    except BrokenPipeError:
        # The reader of the pipe has gone. The interpreter must not flush the rest into it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_BROKEN_PIPE)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


def _show_version(is_asked: bool) -> None:  # noqa: FBT001 - typer passes it by position
    if is_asked:
        from importlib.metadata import version

        typer.echo(f"episodic-absa {version('episodic-absa')}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Report each step on stderr.")] = False,
) -> None:
    """Analyse the sentiment of reviews aspect by aspect, with an episodic memory, and measure what it adds."""
    _configure_logging(logging.INFO if verbose else logging.WARNING)


@app.command()
def conditions(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|v1_1|v1_2|v1_3|v3_0",
            help="A version of the package, or your own YAML file.",
            autocompletion=complete_version,
        ),
    ] = "v3_0",
    *,
    as_json: AsJson = False,
) -> None:
    """Show which flags each memory condition sets."""
    from episodic_absa.cli.conditions_view import conditions_json, conditions_view
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.conditions import load_conditions

    conditions_file = load_conditions(source)
    if as_json:
        print_json(conditions_json(conditions_file))
    else:
        show(conditions_view(conditions_file))


def _configure_logging(level: int) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_PlainLines())
    logger = logging.getLogger("episodic_absa")
    # Set, not added: a second call in the same process must not print every message twice.
    logger.handlers = [handler]
    logger.setLevel(level)
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_RedactedLines())


class _PlainLines(logging.Formatter):
    """Formats a record as `warning: message`."""

    def format(self, record: logging.LogRecord) -> str:
        return redacted(f"{record.levelname.lower()}: {visible_text(record.getMessage())}")


class _RedactedLines(logging.Formatter):
    """Formats the records of other packages as they are, without credentials."""

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


def _show_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the traceback of a bug without the credentials that the messages of other packages may hold."""
    sys.stderr.write(redacted("".join(traceback.format_exception(kind, error, trace))))


def _show_warning(message: Warning | str, *_place: object, **_named: object) -> None:
    """Print what a warning says, without the line of code that gave it."""
    sys.stderr.write(f"warning: {redacted(str(message))}\n")


def _fail(message: str) -> NoReturn:
    from episodic_absa.cli.output import show_error

    show_error(message)
    sys.exit(EXIT_ERROR)
