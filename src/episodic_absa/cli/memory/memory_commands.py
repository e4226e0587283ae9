"""The arguments of the `episodic-absa memory` commands. A command imports the modules it needs when it runs."""

import logging
import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

from episodic_absa.cli.quick_help import QuickHelpGroup
from episodic_absa.cli.shared_options import AsJson
from episodic_absa.vocabulary import EpisodeType, Language, RiskId

ExportSchema = Literal["1.1", "1.3"]
EXIT_NOT_SOUND = EXIT_NOT_FOUND = 1

Store = Annotated[
    str,
    typer.Option("--store", metavar="PATH", help="The store: a .jsonl or .sqlite file, or postgresql://host/database."),
]
DEFAULT_STORE = "memory/episodic_store.jsonl"

logger = logging.getLogger("episodic_absa.cli")

memory_app = typer.Typer(
    cls=QuickHelpGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Show, check, repair, export and import an episode store.",
)


@memory_app.command("list")
def list_episodes(
    *,
    store: Store = DEFAULT_STORE,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="Show at most N episodes.")] = 20,
    language: Annotated[Language | None, typer.Option(help="Show only this language.")] = None,
    episode_type: Annotated[EpisodeType | None, typer.Option("--type", help="Show only this outcome.")] = None,
    risk: Annotated[
        RiskId | None,
        typer.Option(metavar="RISKID", case_sensitive=False, help="Show only this risk, before or after."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List episodes, newest first."""
    from itertools import islice

    from episodic_absa.cli.memory.episode_views import EpisodeFilter, episode_table
    from episodic_absa.cli.memory.named_store import existing_store
    from episodic_absa.cli.output import print_json, show

    wanted = EpisodeFilter(language, episode_type, risk)
    with existing_store(store) as opened:
        episodes = opened.newest_episodes()
        shown = islice(filter(wanted.admits, episodes), limit)
        if as_json:
            for episode in shown:
                print_json(episode)
        else:
            show(episode_table(list(shown), wanted, has_older=next(episodes, None) is not None))


@memory_app.command("show")
def show_episode(
    episode_id: Annotated[str, typer.Argument(metavar="ID", help="The episode: epi_000012, or 12 for short.")],
    *,
    store: Store = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Show one episode in full.

    The page includes its principle in English and Korean, and what persons said about its sample.
    """
    from episodic_absa.cli.memory.episode_views import episode_page
    from episodic_absa.cli.memory.named_store import existing_store
    from episodic_absa.cli.output import print_json, show, show_error

    number = _episode_number(episode_id)
    with existing_store(store) as opened:
        episode = opened.get(f"epi_{number}")
        if episode is None:
            command = f"episodic-absa memory list --store {shlex.quote(store)}"
            show_error(f"there is no epi_{number:06d} in {store}; `{command}` lists the ids it holds")
            raise typer.Exit(EXIT_NOT_FOUND)
        verdicts = opened.verdicts_on(episode.provenance.source_id)
    if as_json:
        given = [verdict.model_dump(include={"aspect", "verdict"}) for verdict in verdicts]
        print_json({**episode.model_dump(mode="json"), "verdicts": given} if given else episode)
    else:
        show(episode_page(episode, verdicts))


@memory_app.command("stats")
def show_stats(*, store: Store = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Count episodes by language, outcome, action, risk and principle."""
    from episodic_absa.cli.memory.named_store import existing_store
    from episodic_absa.cli.memory.store_views import stats_json, stats_view
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.memory.store_statistics import statistics_of

    with existing_store(store) as opened:
        stats = statistics_of(opened)
    if as_json:
        print_json({"store": store, **stats_json(stats)})
    else:
        show(stats_view(stats, store))


@memory_app.command("check")
def check(*, store: Store = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Check every row of a store and name the affected episodes.

    Changes nothing. The exit code is 1 if the store needs a repair.
    """
    from episodic_absa.cli.memory.named_store import existing_store, repair_command
    from episodic_absa.cli.memory.store_views import check_json, check_view
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.store.maintenance import check_store

    with existing_store(store) as opened:
        report = check_store(opened.dialect)
        command = None if report.is_sound else repair_command(opened, store)
    if as_json:
        print_json({"store": store, **check_json(report, command)})
    else:
        show(check_view(report, store, command))
    if not report.is_sound:
        raise typer.Exit(EXIT_NOT_SOUND)


@memory_app.command("repair")
def repair(*, store: Store = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Put a sound file in the place of a damaged store, with everything in it that is sound.

    The damaged file is kept beside it. Ids do not change.
    """
    from episodic_absa.cli.memory.named_store import existing_store, repairable
    from episodic_absa.cli.memory.store_views import repair_json, repair_view
    from episodic_absa.cli.output import print_json, show, show_error
    from episodic_absa.store.maintenance import repair_store

    with existing_store(store) as opened:
        database = repairable(opened)
        if database is None:
            show_error(f"{store} is no SQLite file; restore a database from a backup, take a bad line out of a file")
            raise typer.Exit(EXIT_NOT_SOUND)
        repaired = repair_store(database)
    if as_json:
        print_json({"store": store, **repair_json(repaired)})
    else:
        show(repair_view(repaired, store))


@memory_app.command("compact")
def compact(
    *,
    store: Store = DEFAULT_STORE,
    keep: Annotated[int, typer.Option("--keep", metavar="N", min=1, help="Keep the newest N episodes.")] = 5000,
    as_json: AsJson = False,
) -> None:
    """Delete all but the newest episodes of a store for good.

    Ids do not change. What people said stays, and its terms.
    """
    from episodic_absa.cli.memory.named_store import existing_store
    from episodic_absa.cli.memory.store_views import compact_view
    from episodic_absa.cli.output import print_json, show

    with existing_store(store, reads_only=False) as opened:
        before = opened.dialect.size()
        dropped_n, kept_n = opened.forget_all_but(keep), len(opened.numbers())
        sizes = (before, opened.dialect.size())
    if as_json:
        print_json({"store": store, "kept_n": kept_n, "dropped_n": dropped_n, "bytes": sizes})
    else:
        show(compact_view(kept_n, dropped_n, sizes, store))


@memory_app.command("export")
def export(
    *,
    store: Store = DEFAULT_STORE,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="The new file; without it, the .jsonl file of --store.")
    ] = None,
    schema: Annotated[ExportSchema, typer.Option("--schema", help="1.1 is the form of the original rules.")] = "1.3",
) -> None:
    """Write a store as JSON lines.

    The file of a store that is named by it is written anew, whatever its size.
    """
    from episodic_absa.cli.memory.named_store import export_store

    typer.echo(export_store(store, to, schema))


@memory_app.command("import")
def import_lines(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="JSON lines of a store, of any version.")],
    *,
    store: Store = DEFAULT_STORE,
) -> None:
    """Add the episodes and verdicts of a file to a store.

    What the store holds already is not added again. A store without episodes takes the ids over.
    """
    from episodic_absa.cli.memory.named_store import import_file

    typer.echo(import_file(source, store))


def _episode_number(episode_id: str) -> int:
    digits = episode_id.removeprefix("epi_")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
        raise typer.BadParameter(f"{episode_id!r} is not an episode id; write epi_000012 or 12", param_hint="ID")
    return int(digits)
