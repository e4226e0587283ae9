"""Checks that what memory says about its own past is a count over the store, as it was at each sample's turn."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from episodic_absa.final_tuples import asked_targets
from episodic_absa.memory.advice.counted_advice import counted_message
from episodic_absa.memory.advice.counted_source import CountedPast, Past, RandomPast
from episodic_absa.memory.advice.sources import AdviceMoment
from episodic_absa.memory.episodes.leak_guard import stored_target
from episodic_absa.memory.retrieval.episode_index import EpisodeIndex
from episodic_absa.memory.retrieval.past_index import IndexedEpisodes, PastIndex
from episodic_absa.runs.config.recorded_experiment import recorded_experiment
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.advisory_v1_2 import AdvisoryBundleV1_2, advisories_of
from episodic_absa.schemas.memory_v1_1 import AdvisoryV1_1
from episodic_absa.schemas.memory_v1_2 import AnyEpisode, StoreLine, TallyV1_2, VerdictV1_2
from episodic_absa.schemas.run_files.trace_line import TraceLine
from episodic_absa.verification.checks.file_checks import require_store
from episodic_absa.verification.checks.findings import Check, Findings, NotApplicableError
from episodic_absa.vocabulary import AdviceFrom


def check_counted_messages(cell: CellFiles) -> Findings:
    """Under rules v3 the numbers in messages about experience and familiarity are those of their evidence."""
    _require_v3(cell)
    for trace in cell.traces.valid():
        language = trace.case_trace.input_signature.language
        for advisory in advisories_of(trace.case_trace.memory_bundle):
            meant = None if isinstance(advisory, AdvisoryV1_1) else counted_message(advisory, language)
            if meant is not None:
                same = meant == advisory.message
                yield None if same else f"{_uid(trace)}: a message does not give the numbers counted"


def check_counts(cell: CellFiles) -> Findings:
    """Under rules v3 every number about experience and familiarity is a count over the store before the sample."""
    _require_v3(cell)
    require_store(cell)
    past = _PASTS.get(cell.known_manifest.condition.advice.source)
    if past is None:
        raise NotApplicableError("the condition takes its counts from another store, or has none")
    lines = cell.store.values
    if any(isinstance(line, VerdictV1_2) for line in lines[cell.start_lines :]):
        raise NotApplicableError("verdicts came while the run went on; when a sample saw them is not recorded")
    store = _Replayed(recorded_experiment(cell.known_manifest).episodic_memory.keep_last_n)
    for entry, places in zip(cell.journal.valid(), cell.committed, strict=True):
        store.add(lines[store.line_n : places.start])
        trace = cell.traces_by_uid.get(entry.uid)
        if trace is not None and trace.error is None:
            wrong = next(_miscounted(trace, past, store), None)
            yield None if wrong is None else f"{entry.uid}: {wrong}"


COUNT_CHECKS: Final[Mapping[str, Check]] = {"counted_messages": check_counted_messages, "counts": check_counts}


class _Replayed(IndexedEpisodes):
    """The index of a store, line by line."""

    def __init__(self, keep_last_n: int) -> None:
        self._index = EpisodeIndex(keep_last_n)
        self._episodes: list[AnyEpisode] = []
        self.line_n = 0

    @property
    def episode_index(self) -> EpisodeIndex:
        return self._index

    def at(self, ordinal: int) -> AnyEpisode:
        return self._episodes[ordinal]

    def add(self, lines: Sequence[StoreLine | None]) -> None:
        for line in lines:
            if isinstance(line, TallyV1_2):
                self._index.familiarity.add(line)
            elif isinstance(line, VerdictV1_2):
                self._index.experience.add_verdict(line)
            elif line is not None:
                self._index.add(line)
                self._episodes.append(line)
        self.line_n += len(lines)


def _index_of(moment: AdviceMoment) -> PastIndex:
    return moment.store.episode_index


_PASTS: Final[Mapping[AdviceFrom, Past]] = {
    "retrieved": CountedPast(_index_of),
    "random": RandomPast(_index_of),
}


class _Asked(NamedTuple):
    """What a sample asked the memory about."""

    moment: AdviceMoment
    bundle: AdvisoryBundleV1_2


def _miscounted(trace: TraceLine, past: Past, store: _Replayed) -> Iterator[str]:
    asked = _asked(trace, store)
    if asked is None:
        return
    for advisory in asked.bundle.experience:
        shown = advisory.evidence.experience
        if shown is not None:
            counted = past.experience(asked.moment, shown.kind)
            if counted is None or any(getattr(shown, name) != value for name, value in counted._asdict().items()):
                yield f"the experience with {shown.kind} is not what the store counts"
    for target in asked.bundle.familiarity.evidence.familiarity if asked.bundle.familiarity else ():
        familiarity = past.familiarity(asked.moment, target.position)
        if familiarity is None or (target.seen_in, target.of) != tuple(familiarity):
            yield f"the familiarity of target {target.position} is not what the store counts"


def _asked(trace: TraceLine, store: _Replayed) -> _Asked | None:
    case, bundle = trace.case_trace, trace.case_trace.memory_bundle
    if not isinstance(bundle, AdvisoryBundleV1_2) or case.stage1_output is None:
        return None
    targets = (stored_target(target, trace.text) for target in asked_targets(case.stage1_output.atsa.sentiments))
    return _Asked(AdviceMoment(_uid(trace), case.input_signature, (), (), (), store, tuple(targets)), bundle)


def _require_v3(cell: CellFiles) -> None:
    if cell.known_manifest.condition.rules == "seed":
        raise NotApplicableError("seed rules have neither experience nor familiarity")


def _uid(trace: TraceLine) -> str:
    return trace.case_trace.case_id
