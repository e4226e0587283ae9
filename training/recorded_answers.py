"""Recorded answers of models to dev texts, replayed: the candidates of every text, and what each effort would cost.

A recording holds no text: a dev text is part of it if its first question is. The candidates come with their witnesses
and without a decision, so that any weights may decide them.
"""

import asyncio
import gzip
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from corpora import ROOT, public_data

sys.path.insert(0, str(Path(__file__).resolve().parent / "reader"))
from reading import read_lines

from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.backends.replay import ReplayReplier
from episodic_absa.conditions import load_condition
from episodic_absa.errors import BackendError
from episodic_absa.language import norm
from episodic_absa.memory import MemoryStore
from episodic_absa.pipeline.composition import build_pipeline
from episodic_absa.pipeline.decision import Candidate
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.pipeline.supervisor import SupervisorAgent
from episodic_absa.reader.calibration import load_calibration
from episodic_absa.reader.korean.korean_engine import NO_TOPIC
from episodic_absa.reader.reader import default_reader
from episodic_absa.reader.reading import SURE
from episodic_absa.reader.readings import Reading, ReadPair
from episodic_absa.reader.text_reader import TextReader
from episodic_absa.reader.weights_folder import WeightsFolder
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.reader_view import ReaderView
from episodic_absa.schemas.run_files.candidate_record import Witness
from episodic_absa.vocabulary import POLARITIES, Language

RECORDINGS: Final = ROOT / "training" / "recordings"
READINGS: Final = ROOT / "training" / "reader" / "readings"
SEED: Final = 42
FILES: Final[Mapping[str, tuple[Language, str]]] = {
    "mams_atsa": ("en", "restaurant"),
    **{
        f"mabsa_{domain}_{language}": (language, domain)
        for language in ("en", "ko")
        for domain in ("coursera", "food", "hotel", "phone", "sight")
    },
}
"""The dev files that answers may be recorded of, with their language and domain."""
Pair = tuple[str, str]


class DevText(NamedTuple):
    """A dev text with its gold."""

    uid: str
    text: str
    language: Language
    domain: str
    gold: frozenset[Pair]
    """Opinions without a named target are left out."""


class Recorded(NamedTuple):
    """What was recorded about one dev text under one effort."""

    source: DevText
    candidates: tuple[Candidate, ...]
    tokens: int
    calls: int

    def without(self, *names: str) -> "Recorded":
        """Return the candidates without these witnesses; a candidate that nobody is for any more is none."""
        kept = []
        for candidate in self.candidates:
            witnesses = tuple(witness for witness in candidate.witnesses if witness.who not in names)
            if any(witness.stance == "for" for witness in witnesses):
                kept.append(candidate._replace(witnesses=witnesses))
        return self._replace(candidates=tuple(kept))


class RecordedText(NamedTuple):
    """One dev text under every effort that its recording answers."""

    source: DevText
    reading: Reading
    one_call: Recorded
    """What stage1 decides as well: the validator is no witness."""
    votes: Recorded | None
    full: Recorded | None

    @property
    def reader(self) -> Recorded:
        """The reader's own pairs."""
        pairs = (
            Candidate(pair.term, pair.polarity, None, (Witness(who="stage1", stance="for", p=pair.p),))
            for pair in self.reading.pairs
        )
        return Recorded(self.source, tuple(pairs), 0, 0)

    @property
    def parts(self) -> tuple[Recorded, ...]:
        """What the weights of a model decide."""
        return (self.one_call,) if self.full is None else (self.one_call, self.full)


def dev_texts(data: Path | None = None) -> Iterator[DevText]:
    """Yield the dev texts of all files, each text once; gold without a polarity cannot be scored."""
    seen: set[str] = set()
    for name, (language, domain) in FILES.items():
        for line in ((data or public_data()) / f"{name}.dev.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            if row["text"] in seen or any(opinion["polarity"] is None for opinion in row["gold_tuples"]):
                continue
            seen.add(row["text"])
            gold = {(norm(opinion["aspect_term"]), opinion["polarity"]) for opinion in row["gold_tuples"]}
            explicit = frozenset(pair for pair in gold if pair[0])
            yield DevText(row["uid"], row["text"], language, domain, explicit)


def replayed(recording: Path, texts: Iterable[DevText], reader: TextReader | None = None) -> list[RecordedText]:
    """Return every dev text that a recording answers.

    Args:
        recording: what `backbone.record` wrote, compressed.
        texts: dev texts, recorded or not.
        reader: heard in place of the shipped one, such as one that never saw the domain.
    """
    answers = gzip.decompress(recording.read_bytes())
    return asyncio.run(_replayed(answers, list(texts), reader or default_reader()))


async def _replayed(recording: bytes, texts: Sequence[DevText], reader: TextReader) -> list[RecordedText]:
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "recording.jsonl"
        plain.write_bytes(recording)
        one_call, votes, full = (_Run(plain, reader, settings, Path(folder)) for settings in _EFFORTS)
        found = []
        for source in texts:
            once = await one_call.recorded(source)
            if once is not None:
                reading = reader.read(source.text, source.language)
                more = await votes.recorded(source), await full.recorded(source)
                found.append(RecordedText(source, reading, once, *more))
        return found


_EFFORTS: Final = (
    PipelineSettings(effort="one_call"),
    PipelineSettings(effort="one_call", votes=5),
    PipelineSettings(),
)


class _Run:
    """Replays one effort."""

    def __init__(self, recording: Path, reader: TextReader, settings: PipelineSettings, folder: Path) -> None:
        condition = load_condition("C1", "v3_0")
        backend = RepairingBackend(ReplayReplier(recording))
        self._supervisor = SupervisorAgent(backend, settings.under(condition), rules="v3", reader=reader)
        store = MemoryStore(folder / "no_store.jsonl")
        self._memory = build_pipeline(backend=backend, condition=condition, store=store, settings=settings).memory

    async def recorded(self, source: DevText) -> Recorded | None:
        """Return what the pipeline makes of a text; None if a question was not recorded."""
        sample = Sample(uid=source.uid, text=source.text, language_code=source.language)
        try:
            result = await self._supervisor.run(sample, MemoryView(self._memory), seed=SEED)
        except BackendError:  # no answer was recorded, or none of its attempts can be read
            return None
        return _recorded(source, result)


def _recorded(source: DevText, result: SampleResult) -> Recorded:
    candidates = (
        Candidate(record.aspect_term, record.polarity, record.span, record.witnesses, record.is_polarity_of_reader)
        for record in result.candidates
        if record.aspect_term
    )
    tokens = sum(call.tokens_in + call.tokens_out for call in result.calls if call.agent != "stage2_validator")
    return Recorded(source, tuple(candidates), tokens, len(result.calls))


class LeftOutReader:
    """Networks that each left the domain of a text out; they read dev texts only, and name nothing in any other.

    Args:
        readings: by text: judged terms with their places and raw scores, and the label.
        probability: turns a score into a probability; fitted on other domains than the text's.
    """

    def __init__(self, readings: Mapping[str, Mapping[str, Any]], probability: Callable[[float], float]) -> None:
        self._readings = readings
        self._probability = probability

    def reads(self, language: Language) -> bool:
        """Return whether the networks know a language."""
        return language == "en"

    def read(self, text: str, language: Language | None = None) -> Reading:
        """Return what was read in a dev text."""
        line = self._readings.get(text)
        if line is None or language != "en":
            return Reading("other")
        label, label_p = line["label"]
        pairs = [
            (score >= SURE, ReadPair(text[start:end], start, end, polarity, self._probability(score), NO_TOPIC))
            for start, end, polarity, score, *_ in line["pairs"]
        ]
        named, possible = (tuple(pair for is_named, pair in pairs if is_named is asked) for asked in (True, False))
        return Reading("en", named, possible, label, label_p)

    def view(self, text: str, language: Language, term: str) -> ReaderView | None:
        """Return what was read of a term; of one that no network holds to be possible, that it hardly is one."""
        reading = self.read(text, language)
        if reading.label is None or not norm(term):
            return None
        listed = {norm(pair.term): pair for pair in (*reading.candidates, *reading.pairs)}
        pair = listed.get(norm(term))
        if pair is None:
            return ReaderView(self._probability(0.0), "neutral", 1 / len(POLARITIES))
        return ReaderView(pair.p, pair.polarity, 1.0)


def left_out_reader(texts: Iterable[DevText]) -> LeftOutReader:
    """Return the committed readings of networks that never saw the domain of what they read."""
    of_uid = {source.uid: source.text for source in texts}
    readings = {}
    for path in sorted(READINGS.glob("en_without_*.jsonl.gz")):
        for line in read_lines(path):
            if line["uid"] in of_uid and line["tag"] == "no_tag":
                readings[of_uid[line["uid"]]] = line
    return LeftOutReader(readings, load_calibration(WeightsFolder(), "en").unknown.__call__)
