"""The arguments of the `episodic-absa memory` commands. A command imports the modules it needs when it runs."""

import logging
import shlex
from typing import Annotated

import typer

from episodic_absa.cli.quick_help import QuickHelpGroup
from episodic_absa.cli.shared_options import AsJson
from episodic_absa.vocabulary import EpisodeType, Language, RiskId

EXIT_NOT_SOUND = EXIT_NOT_FOUND = 1

Store = Annotated[
    str, typer.Option("--store", metavar="PATH", help="The store: a file, or an address postgresql://host/database.")
]
DEFAULT_STORE = "memory/episodic_store.jsonl"

logger = logging.getLogger("episodic_absa.cli")

memory_app = typer.Typer(
    cls=QuickHelpGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Show, check and repair an episode store.",
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

    from episodic_absa.cli.memory.episode_table import episode_table
    from episodic_absa.cli.memory.store_argument import existing_store
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.memory.store.reading.newest_episodes import EpisodeFilter

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
    from episodic_absa.cli.memory.episode_page import episode_page
    from episodic_absa.cli.memory.store_argument import existing_store
    from episodic_absa.cli.output import print_json, show, show_error

    number = _episode_number(episode_id)
    with existing_store(store) as opened:
        episode = opened.find_episode(number)
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
    from episodic_absa.cli.memory.stats_view import stats_json, stats_view
    from episodic_absa.cli.memory.store_argument import existing_store
    from episodic_absa.cli.output import print_json, show

    with existing_store(store) as opened:
        stats = opened.statistics()
    if as_json:
        print_json({"store": store, **stats_json(stats)})
    else:
        show(stats_view(stats, store))


@memory_app.command("check")
def check(*, store: Store = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Check every line of a store and list the bad ones.

    Changes nothing. The exit code is 1 if the store needs a repair.
    """
    from episodic_absa.cli.memory.maintenance_view import check_json, check_view
    from episodic_absa.cli.memory.store_argument import existing_store
    from episodic_absa.cli.output import print_json, show

    with existing_store(store) as opened:
        report = opened.check()
    if as_json:
        print_json({"store": store, **check_json(report, store)})
    else:
        show(check_view(report, store))
    if not report.is_sound:
        raise typer.Exit(EXIT_NOT_SOUND)


@memory_app.command("repair")
def repair(*, store: Store = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Move bad lines out of a store, into a file beside it.

    The unfinished last line of a killed writer is moved too. Nothing is deleted.
    """
    from episodic_absa.cli.memory.maintenance_view import repair_json, repair_view
    from episodic_absa.cli.memory.store_argument import existing_store
    from episodic_absa.cli.output import print_json, show

    with existing_store(store) as opened:
        logger.info("repairing %s; waits while another writer holds the lock", opened.shown)
        repaired = opened.repair()
    if as_json:
        print_json({"store": store, **repair_json(repaired, store)})
    else:
        show(repair_view(repaired, store))


@memory_app.command("compact")
def compact(
    *,
    store: Store = DEFAULT_STORE,
    keep: Annotated[int, typer.Option("--keep", metavar="N", min=1, help="Keep the newest N episodes.")] = 5000,
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Rewrite episodes of schema 1.1 as 1.2, with an open outcome.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Rewrite a store with its newest episodes only.

    Ids do not change. The older episodes are deleted for good. A store of an earlier version gets checksums.
    """
    from episodic_absa.cli.memory.maintenance_view import compact_json, compact_view
    from episodic_absa.cli.memory.store_argument import existing_store
    from episodic_absa.cli.output import print_json, show

    with existing_store(store) as opened:
        logger.info("compacting %s; waits while another writer holds the lock", opened.shown)
        compacted = opened.compact(keep, upgrade=upgrade)
    if as_json:
        print_json({"store": store, **compact_json(compacted)})
    else:
        show(compact_view(compacted, store))


def _episode_number(episode_id: str) -> int:
    digits = episode_id.removeprefix("epi_")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        raise typer.BadParameter(f"{episode_id!r} is not an episode id; write epi_000012 or 12", param_hint="ID")
    return int(digits)
