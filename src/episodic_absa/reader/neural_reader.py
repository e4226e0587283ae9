"""Reads a language with its network."""

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Final, NamedTuple

from episodic_absa.language import nearest_occurrence, norm, norm_key
from episodic_absa.reader.calibration import Calibration, load_calibration
from episodic_absa.reader.network import Network
from episodic_absa.reader.reading import DIGITS, LABELS, Encoded, Output, Pair, outputs_of, pairs_of, tag_id
from episodic_absa.reader.readings import Reading, ReadPair
from episodic_absa.reader.weights_folder import WeightsFolder
from episodic_absa.schemas.reader_view import ReaderPair, ReaderView
from episodic_absa.vocabulary import POLARITIES, Language

KEPT_TEXTS: Final = 512
"""A pipeline asks about one text many times, for one term after another."""
_LEAST_MASS: Final = 1e-6


class _Text(NamedTuple):
    """A text as it was read."""

    tokens: Encoded
    output: Output
    """What the network says of every token."""
    reading: Reading


class NeuralReader:
    """Reads one language with a network; threads may share one reader."""

    def __init__(self, folder: WeightsFolder, language: Language, *, threads: int | None) -> None:
        self._language = language
        self._network = Network(folder, language)
        self._calibration = load_calibration(folder, language)
        self._outputs = partial(self._network.outputs, threads=threads)
        self._kept = lru_cache(maxsize=KEPT_TEXTS)(lambda text: self._texts([text])[0])

    def readings(self, texts: Sequence[str]) -> list[Reading]:
        """Return what is read in each text."""
        return [read.reading for read in self._texts(texts)]

    def reading(self, text: str) -> Reading:
        """Return what is read in a text."""
        return self._kept(text).reading

    def view(self, text: str, term: str) -> ReaderView | None:
        """Return how likely a term is a target, and its polarity; None if the text does not hold it."""
        read = self._kept(text)
        place = _place(read.reading, text, term)
        return None if place is None else self._view(read, *place)

    def pairs(self, text: str) -> tuple[ReaderPair, ...]:
        """Return the named pairs, each with its view."""
        read = self._kept(text)
        views = ((pair, self._view(read, pair.start, pair.end)) for pair in read.reading.pairs)
        return tuple(ReaderPair(*pair[:3], view) for pair, view in views if view is not None)

    def _texts(self, texts: Sequence[str]) -> list[_Text]:
        answers = outputs_of(texts, self._network.tokenizer, self._outputs, tag_id(self._calibration.tag))
        return [
            _Text(tokens, output, _reading(text, self._language, tokens, output, self._calibration))
            for text, (tokens, output) in zip(texts, answers, strict=True)
        ]

    def _view(self, read: _Text, start: int, end: int) -> ReaderView | None:
        tokens = read.tokens
        inside = [
            at
            for at, (left, right) in enumerate(zip(tokens.starts, tokens.ends, strict=True))
            if left < end and start < right
        ]
        if not inside:
            return None
        marks = read.output.marks[inside].mean(0)
        masses = [float(marks[1 + 2 * at] + marks[2 + 2 * at]) for at in range(len(POLARITIES))]
        listed = [*read.reading.pairs, *read.reading.candidates]
        own = next((pair for pair in listed if (pair.start, pair.end) == (start, end)), None)
        polarity = own.polarity if own else POLARITIES[masses.index(max(masses))]
        mass = masses[POLARITIES.index(polarity)]
        p_polarity = max(mass / max(sum(masses), _LEAST_MASS), 1 / len(POLARITIES))
        p = own.p if own else self._calibration.map_of(len(tokens.ids))(mass)
        return ReaderView(round(min(1.0, p / p_polarity), DIGITS), polarity, round(p_polarity, DIGITS))


def _reading(text: str, language: Language, tokens: Encoded, output: Output, calibration: Calibration) -> Reading:
    if not tokens.ids:
        return Reading(language, label="none", label_p=1.0)
    probability = calibration.map_of(len(tokens.ids))
    best: dict[str, Pair] = {}
    for pair in pairs_of(text, tokens, output):
        key = norm(text[pair.start : pair.end])
        # Of a term that is judged at several places the likeliest judgement stands.
        if key and (key not in best or pair.p > best[key].p):
            best[key] = pair
    ordered = [
        (
            pair.p >= calibration.threshold,
            ReadPair(text[pair.start : pair.end], pair.start, pair.end, pair.polarity, probability(pair.p), pair.topic),
        )
        for pair in sorted(best.values())
    ]
    likeliest = int(output.label.argmax())
    return Reading(
        language,
        tuple(pair for is_named, pair in ordered if is_named),
        tuple(pair for is_named, pair in ordered if not is_named),
        LABELS[likeliest],
        round(float(output.label[likeliest]), DIGITS),
    )


def _place(reading: Reading, text: str, term: str) -> tuple[int, int] | None:
    """Return where a term stands: where the reader names it, else where it is a word, else its first place."""
    listed = {norm(pair.term): (pair.start, pair.end) for pair in (*reading.candidates, *reading.pairs)}
    place = listed.get(norm(term)) or listed.get(norm_key(term, text))
    if place is not None:
        return place
    whole = re.search(rf"(?<!\w){re.escape(term.strip())}(?!\w)", text, re.IGNORECASE)
    return whole.span() if whole else nearest_occurrence(term, text, 0)
