"""Checks of a grid: its cells belong to its question, and agree where nothing but memory differs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from episodic_absa.errors import RunDirectoryError
from episodic_absa.runs.cell_store import sha256_of_lines
from episodic_absa.runs.fixed_question import uids_sha256
from episodic_absa.runs.question import NO_QUESTION, QUESTION, load_question
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.overlays import PipelineOverlay
from episodic_absa.schemas.run_files.manifest import Repetition
from episodic_absa.schemas.run_files.question import Question
from episodic_absa.serialization.seals import seal_state
from episodic_absa.verification.checks.findings import Findings, NotApplicableError
from episodic_absa.vocabulary import Rules


def check_never_shown_agree(cells: Sequence[CellFiles]) -> Findings:
    """Cells that never show memory agree: same seed and rules, same final tuples over the uids ok in all.

    Without memory nothing passes from a sample to a later one, so the cells of all orders of a seed agree as well.
    """
    # Of the shipped conditions these are C1, C2_silent and C2_eval_only; flags decide, names do not.
    compared = list(_never_shown_groups(cells))
    if not compared:
        raise NotApplicableError("no seed has two cells of the same rules that never show memory")
    shared = [group for group in compared if all(cell.known_manifest.answers_shared for cell in group)]
    if not shared:
        raise NotApplicableError("the cells of a seed did not share their answers")
    for first, *others in shared:
        for uid in sorted(set(first.cards).intersection(*(other.cards for other in others))):
            differing = [
                other.path.name for other in others if other.cards[uid].final_tuples != first.cards[uid].final_tuples
            ]
            yield f"{uid}: {first.path.name} and {', '.join(differing)} differ" if differing else None


def check_seeds_complete(cells: Sequence[CellFiles]) -> Findings:
    """Every order and seed was run in every condition."""
    manifests = [cell.known_manifest for cell in cells if not cell.known_manifest.is_build]
    by_repetition: dict[Repetition, set[str]] = {}
    for manifest in manifests:
        by_repetition.setdefault(manifest.repetition, set()).add(manifest.condition.name)
    known = set().union(*by_repetition.values())
    has_orders = any(manifest.names_order for manifest in manifests)
    for repetition, names in sorted(by_repetition.items()):
        missing = sorted(known - names)
        yield f"{repetition.words(with_order=has_orders)} lacks {', '.join(missing)}" if missing else None


def check_build_stores(cells: Sequence[CellFiles]) -> Findings:
    """Every store that began as a copy of the build of its order and seed began as exactly that."""
    builds = {cell.known_manifest.repetition: cell for cell in cells if cell.known_manifest.is_build}
    for cell in cells:
        build = builds.get(cell.known_manifest.repetition)
        if build is None or cell.known_manifest.episodic_memory.build_store_sha256 is None:
            continue
        start = cell.samples.header.store if cell.samples.header else None
        same = start is not None and start.source_sha256 == sha256_of_lines(build.store.raw)
        yield None if same else f"{cell.path.name} did not begin with the store of {build.path.name}"


def check_question_kept(cells: Sequence[CellFiles]) -> Findings:
    """The question stands as it was before the first sample; every condition, order and seed is asked or added."""
    # A cell in which nothing succeeded may be older than the question: it is run again.
    used = [cell for cell in cells if cell.cards]
    if not used:
        raise NotApplicableError("no sample succeeded")
    try:
        question = load_question(used[0].path.parent)
    except RunDirectoryError as error:
        yield str(error)
        return
    if question is None:
        if all(cell.known_manifest.question_sha256 is None for cell in used):
            raise NotApplicableError(f"{NO_QUESTION}: the grid has no {QUESTION}")
        yield f"{QUESTION} is missing, though the cells name a question; restore it"
        return
    is_whole = seal_state((used[0].path.parent / QUESTION).read_bytes()) == "whole"
    yield None if is_whole else f"{QUESTION} was changed after it was written; restore it"
    evaluated = [cell for cell in used if not cell.known_manifest.is_build]
    yield from _samples(evaluated, question)
    for cell in used:
        is_same = cell.known_manifest.question_sha256 == question.asked.sha256
        yield None if is_same else f"{cell.path.name} was run under another question than {QUESTION} holds"
    for cell in evaluated:
        unknown = ", ".join(_unknown_parts(cell, question))
        yield f"{cell.path.name}: {unknown} is neither asked nor added in {QUESTION}" if unknown else None


GRID_CHECKS: Final[Mapping[str, Callable[[Sequence[CellFiles]], Findings]]] = {
    "never_shown_agree": check_never_shown_agree,
    "seeds_complete": check_seeds_complete,
    "build_stores": check_build_stores,
    "question_kept": check_question_kept,
}


def _never_shown_groups(cells: Iterable[CellFiles]) -> Iterator[list[CellFiles]]:
    """Return the cells to compare: other rules and other efforts ask other questions and may answer otherwise."""
    groups: dict[tuple[int, Rules, PipelineOverlay], list[CellFiles]] = {}
    for cell in cells:
        manifest = cell.known_manifest
        shown = manifest.condition.exposed_to_debate or manifest.condition.exposed_to_stage2
        if not manifest.is_build and not shown:
            asked = (manifest.seed, manifest.condition.rules, manifest.condition.pipeline)
            groups.setdefault(asked, []).append(cell)
    return (group for group in groups.values() if len(group) > 1)


def _unknown_parts(cell: CellFiles, question: Question) -> Iterator[str]:
    asked, added, manifest = question.asked, question.added_together, cell.known_manifest
    if manifest.condition.name not in (*asked.conditions, *added.conditions):
        yield f"the condition {manifest.condition.name}"
    if manifest.seed not in (*asked.seeds, *added.seeds):
        yield f"seed {manifest.seed}"
    order = manifest.order
    if order not in (*asked.orders, *added.orders):
        yield f"order {order}"


def _samples(cells: Sequence[CellFiles], question: Question) -> Findings:
    """Yield whether the asked cells hold the asked reviews, once all of them are finished."""
    asked = question.asked
    due = [
        cell
        for cell in cells
        if cell.known_manifest.condition.name in asked.conditions
        and cell.known_manifest.seed in asked.seeds
        and cell.known_manifest.order in asked.orders
    ]
    known = {(cell.known_manifest.seed, cell.known_manifest.order) for cell in due}
    if {seed for seed, _ in known} < set(asked.seeds) or not all(cell.known_manifest.completed for cell in due):
        return
    uids = sorted({card.uid for cell in due for card in cell.scorecards})
    is_same = (len(uids), uids_sha256(uids)) == (asked.sample_n, asked.uids_sha256)
    yield None if is_same else f"the asked cells hold {len(uids)} reviews; {QUESTION} asks for other {asked.sample_n}"
