"""Turns options of `analyze` into objects, and refuses those that do not go together."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.backends.create_backend import BackboneSettings, backbone_from
from episodic_absa.backends.provider_facts import facts_of
from episodic_absa.cli.analyze.result_file import RESULT_ENDINGS, part_of
from episodic_absa.errors import ConfigError
from episodic_absa.memory import MemoryStore
from episodic_absa.postgres.location import is_postgres
from episodic_absa.schemas.run import Condition
from episodic_absa.vocabulary import Effort

PAGE_ENDINGS: Final = (".html", ".htm")


class ChosenBackend(NamedTuple):
    """The settings of a backend, and the note for readers of its answers."""

    backbone: BackboneSettings
    note: str


def choose_backend(name: str, *, base_url: str | None, record: Path | None) -> ChosenBackend:
    """Return the settings that `--backend`, `--base-url` and `--record` name.

    Raises:
        ConfigError: the name is unknown, or a base URL is given for a backend without a server.
    """
    backbone = backbone_from(name, base_url=base_url)
    facts = facts_of(backbone)
    if base_url is not None and facts.is_local:
        raise ConfigError(f"--base-url is for backends with a server; {backbone.provider} has none", key="base_url")
    return ChosenBackend(backbone.model_copy(update={"record": record}), facts.note)


def refuse_contradictions(*, explain: bool, as_json: bool, out: Path | None, long: bool, summary: Path | None) -> None:
    """Refuse ways of showing the results that exclude each other."""
    if summary is not None and (explain or as_json):
        raise ConfigError("--summary shows all reviews together; leave --explain and --json out", key="summary")
    if explain and as_json:
        raise ConfigError("--explain is for people and --json for programs; choose one", key="explain")
    if out is not None and (explain or as_json):
        raise ConfigError("--out writes the results to a file; leave --explain and --json out", key="out")
    if long and out is None:
        raise ConfigError("--long says how --out is written; name the file with --out PATH", key="long")


def require_free_targets(
    *, out: Path | None, summary: Path | None, record: Path | None, files_read: Mapping[str, Path | None]
) -> None:
    """Refuse targets that would overwrite what the command reads or another target, or that cannot be written.

    Args:
        out: the value of `--out`.
        summary: the value of `--summary`.
        record: the value of `--record`.
        files_read: the files that the command reads, by what they are.
    """
    if summary is not None and summary.suffix.lower() not in PAGE_ENDINGS:
        raise ConfigError(f"--summary {summary}: the ending must be one of {', '.join(PAGE_ENDINGS)}", key="summary")
    if out is not None and out.suffix.lower() not in RESULT_ENDINGS:
        raise ConfigError(f"--out {out}: the ending must be one of {', '.join(RESULT_ENDINGS)}", key="out")
    used = dict(files_read)
    part = None if out is None else part_of(out)
    for option, targets in (("out", (out, part)), ("summary", (summary,)), ("record", (record,))):
        for target in targets:
            for name, path in used.items():
                if target is not None and path is not None and _is_same_file(target, path):
                    raise ConfigError(f"--{option} {targets[0]} is {name}; choose another name", key=option)
        used[f"the file of --{option}"] = targets[0]
    if summary is not None:
        _require_writable(summary)


def _is_same_file(target: Path, path: Path) -> bool:
    if target.resolve() == path.resolve():
        return True
    # A hard link, or a name in other case on a disk that ignores case.
    return target.exists() and path.exists() and target.samefile(path)


def _require_writable(page: Path) -> None:
    """Refuse a page that could not be written before hours of analysis are spent on it."""
    folder = page.resolve().parent
    is_refused = page.exists() and not os.access(page, os.W_OK)
    if page.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK) or is_refused:
        raise ConfigError(f"--summary {page} cannot be written; name a file in a folder that exists", key="summary")


def store_file(store: str) -> Path | None:
    """Return the file that `--store` names, None for a database."""
    return None if is_postgres(store) else Path(store)


def require_store_use(store: str | None, condition: Condition) -> None:
    """Refuse a `--store` that is a directory, cannot be reached, or that the condition neither reads nor writes."""
    if store is None:
        return
    if not is_postgres(store) and Path(store).is_dir():
        raise ConfigError(
            f"{store} is a directory; a store is one .jsonl or .sqlite file, name it with --store", key="store"
        )
    if not condition.retrieval_execute and not condition.store_write:
        raise ConfigError(
            f"{condition.name} neither reads nor writes a store; choose another --condition or leave --store out",
            key="store",
        )
    if is_postgres(store):
        # A wrong password or a table of something else is told before a review is read.
        with MemoryStore(store) as opened:
            opened.exists()


def refuse_overlaid_effort(effort: Effort | None, condition: Condition) -> None:
    """Refuse an `--effort` that the condition would replace by its own."""
    own = condition.pipeline.effort
    if effort is not None and own not in (None, effort):
        raise ConfigError(
            f"{condition.name} sets effort: {own}; leave --effort {effort} out or choose another --condition",
            key="effort",
        )
