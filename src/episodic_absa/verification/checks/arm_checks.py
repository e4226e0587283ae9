"""Checks that a control arm kept its promise: its advice came from where the condition says, and nowhere else."""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Final

from episodic_absa.memory import load_catalogue
from episodic_absa.memory.advice.advisor import shown_chars
from episodic_absa.memory.advice.chance import coin_value, drawn_places
from episodic_absa.memory.advice.placebo import PLACEBO_PRINCIPLE, placebo_texts
from episodic_absa.runs.config.cfg_hash import recorded_experiment
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.published_store import read_published_store
from episodic_absa.schemas.overlays import AdviceOverlay
from episodic_absa.schemas.run_files.sample_record import SampleRecord
from episodic_absa.store.open_store import store_sha256
from episodic_absa.store.uids import stored_uid
from episodic_absa.verification.checks.findings import Check, Findings, NotApplicableError
from episodic_absa.vocabulary import Language

PLACEBO_TOLERANCE: Final = 0.1
"""The largest difference in length between a placebo and what it stands in for, as a share of the latter."""
_Broken = Callable[[SampleRecord], str | None]
"""Says how a sample breaks a promise; None if it keeps it."""


def check_arm_promises(cell: CellFiles) -> Findings:
    """The advice of a control arm is what its overlay says: source, length, draws, coins, retired principles."""
    overlay = cell.known_manifest.condition.advice
    if overlay == AdviceOverlay():
        raise NotApplicableError("the condition has no advice overlay")
    promises = (_source(cell, overlay), _coins(overlay), _nothing_retired(cell))
    for record in cell.records:
        if record.error is None and record.memory.retrieval_calls:
            problem = next(filter(None, (broken(record) for broken in promises)), None)
            yield f"{record.uid}: {problem}" if problem else None


ARM_CHECKS: Final[Mapping[str, Check]] = {"arm_promises": check_arm_promises}


def _source(cell: CellFiles, overlay: AdviceOverlay) -> _Broken:
    if overlay.source == "random":
        return _random_draws(cell)
    if overlay.source == "donor":
        return _of_the_donor(cell)
    if overlay.source == "constant":
        return _constant(overlay)
    if overlay.source == "placebo":
        return _placebo(overlay)
    return lambda record: (
        "advice was made of other episodes than those retrieved"
        if record.memory.advised_ids != record.memory.retrieved_ids
        else None
    )


def _random_draws(cell: CellFiles) -> _Broken:
    """Repeat the draws of a cell from its store as it was at each sample's turn."""
    episodes, before = cell.all_episodes, cell.episodes_before
    keep = recorded_experiment(cell.known_manifest).episodic_memory.keep_last_n
    places: dict[Language, list[int]] = {}
    for place, episode in enumerate(episodes):
        places.setdefault(episode.input_signature.language, []).append(place)

    def broken(record: SampleRecord) -> str | None:
        memory, end = record.memory, before[record.uid]
        ours = places.get(record.input.signature.language, [])
        first, last = bisect_left(ours, max(0, end - keep)), bisect_left(ours, end)
        drawn = (episodes[ours[first + place]] for place in drawn_places(record.uid, last - first))
        others = (
            episode.episode_id
            for episode in drawn
            if episode.episode_id not in memory.retrieved_ids and episode.provenance.source_id != stored_uid(record.uid)
        )
        is_drawn = memory.advised_ids == tuple(islice(others, len(memory.retrieved_ids)))
        return None if is_drawn else "the random episodes are not those that its uid draws"

    return broken


def _of_the_donor(cell: CellFiles) -> _Broken:
    """Hold advice against the donor's store, unless that is out of reach or was changed since."""
    manifest = cell.known_manifest
    path = cell.resolve(manifest.condition.advice.store) if manifest.condition.advice.store else None
    if path is None or not path.is_file() or store_sha256(path) != manifest.episodic_memory.donor_store_sha256:
        return lambda _: None
    known = {episode.episode_id for episode in read_published_store(path).episodes}

    def broken(record: SampleRecord) -> str | None:
        is_known = known.issuperset(record.memory.advised_ids)
        return None if is_known else "advice was made of an episode that the donor's store does not hold"

    return broken


def _constant(overlay: AdviceOverlay) -> _Broken:
    def broken(record: SampleRecord) -> str | None:
        memory, bundle = record.memory, record.bundle
        is_left_out = any(coin.withheld for coin in memory.coins) or memory.firewall_dropped_n > 0
        meant = [] if is_left_out else [overlay.principle]
        holds = _offered(record) == meant and not bundle.warnings and not memory.advised_ids
        return None if holds else f"something else than {overlay.principle} was offered"

    return broken


def _placebo(overlay: AdviceOverlay) -> _Broken:
    texts = sorted((*placebo_texts("en"), *placebo_texts("ko")), key=len, reverse=True)

    def says_nothing(message: str) -> bool:
        for text in texts:
            message = message.replace(text, "")
        return not message.strip()

    def broken(record: SampleRecord) -> str | None:
        bundle, due = record.bundle, record.memory.matched_chars
        messages = [advisory.message for advisory in bundle.retrieved]
        if bundle.warnings or {*_offered(record)} - {PLACEBO_PRINCIPLE} or not all(map(says_nothing, messages)):
            return "the placebo says something"
        if overlay.matches_chars and abs(shown_chars(bundle) - due) > PLACEBO_TOLERANCE * due:
            return f"the placebo has {shown_chars(bundle)} characters; {due} are due within 10 %"
        return None

    return broken


def _coins(overlay: AdviceOverlay) -> _Broken:
    def broken(record: SampleRecord) -> str | None:
        coins = record.memory.coins
        if not overlay.withhold:
            return "coins are recorded, though the condition withholds nothing" if coins else None
        if any(coin.withheld != (coin_value(record.uid, coin.principle_id) < overlay.withhold) for coin in coins):
            return "a coin is not the one that uid and principle fix"
        kept = {coin.principle_id for coin in coins if not coin.withheld}
        return None if kept.issuperset(_offered(record)) else "a principle was offered without a coin that keeps it"

    return broken


def _nothing_retired(cell: CellFiles) -> _Broken:
    retired = frozenset(cell.known_manifest.episodic_memory.retired_principles)
    principles = [principle for principle in load_catalogue() if principle.principle_id in retired]
    warnings = {text for principle in principles for text in (principle.anti_pattern_en, principle.anti_pattern_ko)}

    def broken(record: SampleRecord) -> str | None:
        if shown := retired.intersection(_offered(record)):
            return f"{min(shown)} was offered, though it is retired"
        is_warned = not warnings.isdisjoint(record.bundle.warnings)
        return "a warning of a retired principle was offered" if is_warned else None

    return broken


def _offered(record: SampleRecord) -> list[str]:
    """Return the principle of each advisory."""
    return [advisory.evidence.principle_id for advisory in record.bundle.retrieved]
