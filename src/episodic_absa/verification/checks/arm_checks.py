"""Checks that a control arm kept its promise: its advice came from where the condition says, and nowhere else."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Final

from episodic_absa.memory import load_catalogue
from episodic_absa.memory.advice.advisor import shown_chars
from episodic_absa.memory.advice.chance import coin_value, drawn_places
from episodic_absa.memory.advice.placebo import PLACEBO_PRINCIPLE, placebo_texts
from episodic_absa.runs.config.recorded_experiment import recorded_experiment
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.published_store import read_published_store
from episodic_absa.schemas.advisory_v1_2 import AnyBundle
from episodic_absa.schemas.overlays.advice_overlay import AdviceOverlay
from episodic_absa.schemas.run_files.trace_line import TraceLine
from episodic_absa.store.open_store import store_sha256
from episodic_absa.store.uids import stored_uid
from episodic_absa.verification.checks.findings import Check, Findings, NotApplicableError
from episodic_absa.vocabulary import AdviceFrom, Language

PLACEBO_TOLERANCE: Final = 0.1
"""The largest difference in length between a placebo and what it stands in for, as a share of the latter."""

_Promise = Callable[[TraceLine], Iterator[str]]


def check_arm_promises(cell: CellFiles) -> Findings:
    """The advice of a control arm is what its overlay says: source, length, draws, coins, retired principles."""
    overlay = cell.known_manifest.condition.advice
    if overlay == AdviceOverlay():
        raise NotApplicableError("the condition has no advice overlay")
    promises = _promises(cell)
    for trace in cell.traces:
        if trace.error is None and trace.memory.retrieval_calls:
            broken = next((finding for promise in promises for finding in promise(trace)), None)
            yield None if broken is None else f"{trace.case_trace.case_id}: {broken}"


ARM_CHECKS: Final[Mapping[str, Check]] = {"arm_promises": check_arm_promises}


def _promises(cell: CellFiles) -> list[_Promise]:
    overlay = cell.known_manifest.condition.advice
    of_source: Mapping[AdviceFrom, Callable[[], _Promise]] = {
        "retrieved": lambda: _advised_as_retrieved,
        "random": lambda: _RandomDraws(cell).broken,
        "donor": lambda: partial(_of_the_donor, _donor_ids(cell)),
        "constant": lambda: partial(_constant, overlay),
        "placebo": lambda: partial(_placebo, overlay),
    }
    retired = frozenset(cell.known_manifest.episodic_memory.retired_principles)
    return [
        partial(_record, overlay),
        of_source[overlay.source](),
        partial(_coins, overlay),
        partial(_nothing_retired, retired),
    ]


def _bundle(trace: TraceLine) -> AnyBundle:
    return trace.case_trace.memory_bundle


def _principles(trace: TraceLine) -> tuple[str, ...]:
    return tuple(dict.fromkeys(advisory.evidence.principle_id for advisory in _bundle(trace).retrieved))


def _record(overlay: AdviceOverlay, trace: TraceLine) -> Iterator[str]:
    memory = trace.memory
    if memory.advice_from != overlay.source:
        yield f"advice is recorded as {memory.advice_from}; the condition says {overlay.source}"
    if memory.offered_principles != _principles(trace) or memory.offered_chars != shown_chars(_bundle(trace)):
        yield "the record of what was offered is not what the bundle holds"


def _advised_as_retrieved(trace: TraceLine) -> Iterator[str]:
    if trace.memory.advised_ids != trace.memory.retrieved_ids:
        yield "advice was made of other episodes than those retrieved"


class _RandomDraws:
    """Repeats the draws of a cell from its store as it was at each sample's turn."""

    def __init__(self, cell: CellFiles) -> None:
        self._episodes = cell.all_episodes
        self._keep = recorded_experiment(cell.known_manifest).episodic_memory.keep_last_n
        self._places: dict[Language, list[int]] = {}
        for place, episode in enumerate(self._episodes):
            self._places.setdefault(episode.input_signature.language, []).append(place)
        self._before = cell.episodes_before

    def broken(self, trace: TraceLine) -> Iterator[str]:
        memory, uid = trace.memory, trace.case_trace.case_id
        if not set(memory.advised_ids).isdisjoint(memory.retrieved_ids):
            yield "a random episode is one that retrieval chose"
        end = self._before.get(uid)
        if end is None:
            return
        places = self._places.get(trace.case_trace.input_signature.language, [])
        first, last = bisect_left(places, max(0, end - self._keep)), bisect_left(places, end)
        drawn = (self._episodes[places[first + place]] for place in drawn_places(uid, last - first))
        others = (
            episode.episode_id
            for episode in drawn
            if episode.episode_id not in memory.retrieved_ids and episode.provenance.source_id != stored_uid(uid)
        )
        if memory.advised_ids != tuple(islice(others, memory.retrieved_k)):
            yield "the random episodes are not those that its uid draws"


def _donor_ids(cell: CellFiles) -> frozenset[str] | None:
    """Return the episodes of the donor's store; None if it is out of reach or was changed since."""
    manifest = cell.known_manifest
    path = cell.resolve(manifest.condition.advice.store) if manifest.condition.advice.store else None
    if path is None or not path.is_file():
        return None
    if store_sha256(path) != manifest.episodic_memory.donor_store_sha256:
        return None
    return frozenset(episode.episode_id for episode in read_published_store(path).episodes)


def _of_the_donor(known: frozenset[str] | None, trace: TraceLine) -> Iterator[str]:
    if known is not None and not known.issuperset(trace.memory.advised_ids):
        yield "advice was made of an episode that the donor's store does not hold"


def _constant(overlay: AdviceOverlay, trace: TraceLine) -> Iterator[str]:
    memory, bundle = trace.memory, _bundle(trace)
    left_out = any(coin.withheld for coin in memory.coins) or memory.firewall_dropped_n > 0
    meant = () if left_out else (overlay.principle,)
    if _principles(trace) != meant or len(bundle.retrieved) > 1 or bundle.warnings or memory.advised_ids:
        yield f"something else than {overlay.principle} was offered"


def _placebo(overlay: AdviceOverlay, trace: TraceLine) -> Iterator[str]:
    memory, bundle = trace.memory, _bundle(trace)
    messages = [advisory.message for advisory in bundle.retrieved]
    if bundle.warnings or set(_principles(trace)) - {PLACEBO_PRINCIPLE} or not all(map(_says_nothing, messages)):
        yield "the placebo says something"
    if overlay.matches_chars and abs(memory.offered_chars - memory.matched_chars) > (
        PLACEBO_TOLERANCE * memory.matched_chars
    ):
        yield f"the placebo has {memory.offered_chars} characters; {memory.matched_chars} are due within 10 %"


def _says_nothing(message: str) -> bool:
    for text in sorted((*placebo_texts("en"), *placebo_texts("ko")), key=len, reverse=True):
        message = message.replace(text, "")
    return not message.strip()


def _coins(overlay: AdviceOverlay, trace: TraceLine) -> Iterator[str]:
    memory, uid = trace.memory, trace.case_trace.case_id
    if any(coin.withheld != (coin_value(uid, coin.principle_id) < overlay.withhold) for coin in memory.coins):
        yield "a coin is not the one that uid and principle fix"
    kept = {coin.principle_id for coin in memory.coins if not coin.withheld}
    if overlay.withhold and not kept.issuperset(_principles(trace)):
        yield "a principle was offered without a coin that keeps it"
    if not overlay.withhold and memory.coins:
        yield "coins are recorded, though the condition withholds nothing"


def _nothing_retired(retired: frozenset[str], trace: TraceLine) -> Iterator[str]:
    if shown := retired.intersection(_principles(trace)):
        yield f"{min(shown)} was offered, though it is retired"
    warnings = {
        warning
        for principle in load_catalogue()
        if principle.principle_id in retired
        for warning in (principle.anti_pattern_en, principle.anti_pattern_ko)
    }
    if warnings.intersection(_bundle(trace).warnings):
        yield "a warning of a retired principle was offered"
