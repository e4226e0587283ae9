"""`episodic-absa memory ...`: what each command takes. What it shows is built elsewhere, imported when it runs."""

import logging
from pathlib import Path
from typing import Annotated

import typer

from episodic_absa.cli.quick_help import QuickHelpGroup
from episodic_absa.vocabulary import EpisodeType, Language, RiskId

EXIT_NOT_SOUND = EXIT_NOT_FOUND = 1

Store = Annotated[Path, typer.Option("--store", metavar="PATH", help="The store file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
DEFAULT_STORE = Path("memory/episodic_store.jsonl")

logger = logging.getLogger("episodic_absa.cli")

memory_app = typer.Typer(
    cls=QuickHelpGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Look into an episode store, check it, mend it.",
)


@memory_app.command("list")
def list_episodes(
    *,
    store: Store = DEFAULT_STORE,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="Show at most so many.")] = 20,
    language: Annotated[Language | None, typer.Option(help="Only this language.")] = None,
    episode_type: Annotated[EpisodeType | None, typer.Option("--type", help="Only this outcome.")] = None,
    risk: Annotated[
        RiskId | None,
        typer.Option(metavar="RISKID", case_sensitive=False, help="Only with this risk, before or after."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List episodes, newest first."""
    from itertools import islice

    from episodic_absa.cli.memory.episode_table import EpisodeFilter, episode_table
    from episodic_absa.cli.memory.store_file import existing_store, newest_first
    from episodic_absa.cli.output import print_json, show

    wanted = EpisodeFilter(language, episode_type, risk)
    episodes = newest_first(existing_store(store))
    found = islice(filter(wanted.admits, episodes), limit)
    if as_json:
        for episode in found:
            print_json(episode)
    else:
        show(episode_table(list(found), wanted, has_older=next(episodes, None) is not None))


@memory_app.command("show")
def show_episode(
    episode_id: Annotated[str, typer.Argument(metavar="ID", help="epi_000012, or just 12.")],
    *,
    store: Store = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Show one episode in full.

    With the principle it taught, in English and Korean.
    """
    from episodic_absa.cli.memory.episode_page import episode_page
    from episodic_absa.cli.memory.store_file import existing_store, find_episode
    from episodic_absa.cli.output import print_json, show, show_error

    number = _episode_number(episode_id)
    episode = find_episode(existing_store(store), number)
    if episode is None:
        show_error(f"there is no epi_{number:06d} in {store}; `episodic-absa memory list --store {store}` shows it")
        raise typer.Exit(EXIT_NOT_FOUND)
    if as_json:
        print_json(episode)
    else:
        show(episode_page(episode))


@memory_app.command("stats")
def show_stats(*, store: Store = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Count episodes by language, outcome, action, risk and principle."""
    from episodic_absa.cli.memory.stats_view import stats_json, stats_view
    from episodic_absa.cli.memory.store_file import existing_store
    from episodic_absa.cli.memory.store_stats import compute_store_stats
    from episodic_absa.cli.output import print_json, show

    stats = compute_store_stats(existing_store(store))
    if as_json:
        print_json({"store": str(store), **stats_json(stats)})
    else:
        show(stats_view(stats, store))


@memory_app.command("check")
def check(*, store: Store = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Read every line and say what is wrong with it.

    Changes nothing. The exit code is 1 if the store needs a repair.
    """
    from episodic_absa.cli.memory.maintenance_view import check_json, check_view
    from episodic_absa.cli.memory.store_file import existing_store
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.memory.store.store_maintenance import check_store

    report = check_store(existing_store(store))
    if as_json:
        print_json({"store": str(store), **check_json(report, store)})
    else:
        show(check_view(report, store))
    if not report.is_sound:
        raise typer.Exit(EXIT_NOT_SOUND)


@memory_app.command("repair")
def repair(*, store: Store = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Move bad lines out of the store, into a file beside it.

    An unfinished end, left by a writer that was killed, is moved too. Nothing is lost.
    """
    from episodic_absa.cli.memory.maintenance_view import repair_json, repair_view
    from episodic_absa.cli.memory.store_file import existing_store
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.memory.store.store_maintenance import repair_store

    path = existing_store(store)
    logger.info("repairing; waits while another writer holds the lock")
    repaired = repair_store(path)
    if as_json:
        print_json({"store": str(store), **repair_json(repaired, store)})
    else:
        show(repair_view(repaired, store))


@memory_app.command("compact")
def compact(
    *,
    store: Store = DEFAULT_STORE,
    keep: Annotated[int, typer.Option("--keep", metavar="N", min=1, help="Keep the newest so many.")] = 5000,
    as_json: AsJson = False,
) -> None:
    """Rewrite the store with its newest episodes only.

    Ids stay as they are. The older episodes are gone for good.
    """
    from episodic_absa.cli.memory.maintenance_view import compact_json, compact_view
    from episodic_absa.cli.memory.store_file import existing_store
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.memory.store.store_maintenance import compact_store

    path = existing_store(store)
    logger.info("compacting; waits while another writer holds the lock")
    compacted = compact_store(path, keep)
    if as_json:
        print_json({"store": str(store), **compact_json(compacted)})
    else:
        show(compact_view(compacted, store))


def _episode_number(episode_id: str) -> int:
    digits = episode_id.removeprefix("epi_")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        raise typer.BadParameter(f"{episode_id!r} is no episode id; write epi_000012 or 12", param_hint="ID")
    return int(digits)
