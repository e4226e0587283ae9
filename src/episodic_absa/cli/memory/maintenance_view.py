"""The output of `memory check`, `repair` and `compact`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.memory.stats_view import size_text
from episodic_absa.cli.output import printable
from episodic_absa.memory.store.bad_line import rejected_path, repair_command, torn_path
from episodic_absa.memory.store.store_report import Compacted, Finding, Repaired, StoreReport
from episodic_absa.postgres.location import is_postgres

_FINDINGS_SHOWN: Final = 20


def check_json(report: StoreReport, store: str) -> dict[str, Any]:
    """Return a report as a JSON value; `repair_command` is null if the store is sound."""
    return {
        "is_sound": report.is_sound,
        "episode_n": report.episode_n,
        "tally_n": report.tally_n,
        "verdict_n": report.verdict_n,
        "bad_lines": _json_of(report.bad_lines),
        "damage": list(report.damage),
        "is_sealed": report.is_sealed,
        "remarks": _json_of(report.remarks),
        "torn_bytes": report.torn_bytes,
        "repair_command": None if report.is_sound or is_postgres(store) else repair_command(Path(store)),
    }


def check_view(report: StoreReport, store: str) -> ConsoleRenderable:
    """Lay out a report; if the store needs a repair, the command comes last."""
    parts: list[ConsoleRenderable] = [_verdict(report, store)]
    parts += _listed("bad", report.bad_lines, "red")
    parts += [Text(f"  {printable(damage)}", style="red") for damage in report.damage]
    parts += _listed("remark", report.remarks, "yellow")
    if report.torn_bytes:
        parts.append(
            Text(
                f"The file ends in {_count(report.torn_bytes, 'byte')} of an unfinished line (a writer was killed). "
                f"Readers ignore them; the next append or a repair moves them to {torn_path(Path(store)).name}."
            )
        )
    if not report.is_sound and is_postgres(store):
        parts.append(Text("\nTo repair it, restore the database from a backup."))
    elif not report.is_sound:
        parts.append(Text.assemble("\nTo repair it: ", (repair_command(Path(store)), "bold")))
    elif not report.is_sealed and report.episode_n:
        parts.append(Text("Its lines have no checksums, as in earlier versions; `memory compact` adds them."))
    return Group(*parts)


def repair_json(repaired: Repaired, store: str) -> dict[str, Any]:
    """Return the outcome of a repair as a JSON value; a path is null if nothing was moved there."""
    return {
        "kept_n": repaired.kept_n,
        "rejected": _json_of(repaired.rejected),
        "damage": list(repaired.damage),
        "rejected_path": str(rejected_path(Path(store).resolve())) if repaired.rejected else None,
        "torn_bytes": repaired.torn_bytes,
        "torn_path": str(torn_path(Path(store).resolve())) if repaired.torn_bytes else None,
    }


def repair_view(repaired: Repaired, store: str) -> ConsoleRenderable:
    """Lay out the outcome of a repair: what was moved, where to, and what was kept."""
    kept = _count(repaired.kept_n, "episode")
    if not repaired.rejected and not repaired.torn_bytes and not repaired.damage:
        return Text.assemble(("✓ nothing to repair", "bold green"), f": {kept} in {printable(store)}, all sound")
    parts: list[ConsoleRenderable] = [Text.assemble(("✓ repaired", "bold green"), f" {printable(store)}: {kept} kept")]
    parts += [Text(f"  {printable(damage)}", style="yellow") for damage in repaired.damage]
    parts += _listed("moved", repaired.rejected, "yellow")
    if repaired.rejected:
        where = printable(str(rejected_path(Path(store).resolve())))
        parts.append(Text(f"{_count(len(repaired.rejected), 'bad line')} now in {where}"))
    if repaired.torn_bytes:
        where = printable(str(torn_path(Path(store).resolve())))
        parts.append(Text(f"{_count(repaired.torn_bytes, 'byte')} of an unfinished line now in {where}"))
    return Group(*parts)


def compact_json(compacted: Compacted) -> dict[str, Any]:
    """Return the outcome of a compaction as a JSON value."""
    return compacted._asdict()


def compact_view(compacted: Compacted, store: str) -> ConsoleRenderable:
    """Lay out the outcome of a compaction: episodes kept and dropped, bytes before and after."""
    return Text.assemble(
        ("✓ compacted", "bold green"),
        f" {printable(store)}: {_count(compacted.kept_n, 'episode')} kept, {compacted.dropped_n:,} dropped, "
        f"{size_text(compacted.bytes_before)} → {size_text(compacted.bytes_after)}",
    )


def _verdict(report: StoreReport, store: str) -> Text:
    episodes = _held(report)
    if report.is_sound:
        return Text.assemble(("✓ sound", "bold green"), f": {episodes} in {printable(store)}")
    bad = (
        f"{_count(len(report.bad_lines), 'bad line')} beside {episodes}"
        if report.bad_lines
        else f"damage to {episodes}"
    )
    return Text.assemble(("✗ not sound", "bold red"), f": {bad} in {printable(store)}; it cannot be opened")


def _held(report: StoreReport) -> str:
    """Return how many lines of each kind are sound: 3 episodes, 12 tallies."""
    held = [_count(report.episode_n, "episode")]
    if report.tally_n:
        held.append(f"{report.tally_n:,} {'tally' if report.tally_n == 1 else 'tallies'}")
    if report.verdict_n:
        held.append(_count(report.verdict_n, "verdict"))
    return ", ".join(held)


def _listed(kind: str, findings: Sequence[Finding], style: str) -> Iterable[ConsoleRenderable]:
    if not findings:
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style=style)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="fold")
    for finding in findings[:_FINDINGS_SHOWN]:
        table.add_row(f"  {kind}", f"line {finding.line}", printable(finding.reason))
    yield table
    if len(findings) > _FINDINGS_SHOWN:
        yield Text(f"  and {len(findings) - _FINDINGS_SHOWN:,} more; --json lists all of them", style="dim")


def _json_of(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    return [finding._asdict() for finding in findings]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
