"""Turns annotated rows into training examples: tagged words, judged targets, judged texts."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from corpora import Row

from episodic_absa.backends.embedded.judgement.aspect_judgement import find_term, judge_term
from episodic_absa.backends.embedded.korean.korean_tokens import NOUNS
from episodic_absa.backends.embedded.model.linear_model import Feature
from episodic_absa.backends.embedded.model.polarity_features import place_of, target_features, text_features
from episodic_absa.backends.embedded.model.tagger_features import tagger_features
from episodic_absa.backends.embedded.model.weighing import OTHER_DOMAIN
from episodic_absa.backends.embedded.reading import Reading
from episodic_absa.backends.embedded.text_reading import read_text
from episodic_absa.vocabulary import Language


class Example(NamedTuple):
    """One text with its reading and its annotation."""

    reading: Reading
    row: Row
    domain: str | None
    """None: no single domain."""

    @property
    def habits(self) -> str | None:
        """The domain whose habits of annotation it follows; None: only the general ones."""
        return None if self.domain == OTHER_DOMAIN else self.domain


class Judged(NamedTuple):
    """One target or text with its polarity."""

    features: list[Feature]
    polarity: str
    share: float
    """Below 1 if a target has several polarities."""
    domain: str | None


def read_examples(rows: Iterable[Row], language: Language, domain: str | None) -> list[Example]:
    """Return the examples of rows; a text without words is left out."""
    examples = (Example(read_text(row.text, language), row, domain) for row in rows)
    return [example for example in examples if example.reading.words]


def tagged_words(example: Example) -> tuple[list[list[str]], list[str]]:
    """Return the attributes and the label of every word: B begins a target, I continues it, O is outside."""
    return tagger_features(example.reading), word_labels(example.reading, example.row.gold)


def word_labels(reading: Reading, gold: Sequence[dict[str, Any]]) -> list[str]:
    """Align gold terms to words. A Korean term takes the morphemes that lie mostly inside it."""
    labels = ["O"] * len(reading.words)
    # Of two overlapping terms the shorter one is more exact; the other is left out.
    for start, end in sorted(gold_places(reading, gold), key=lambda place: (place[1] - place[0], place)):
        inside = [
            at
            for at, word in enumerate(reading.words)
            if word.end > word.start and 2 * (min(word.end, end) - max(word.start, start)) >= word.end - word.start
        ]
        if inside and all(labels[at] == "O" for at in inside):
            for at in inside:
                labels[at] = "I"
            labels[inside[0]] = "B"
    return labels


def without_predicates(reading: Reading, labels: Sequence[str]) -> list[str]:
    """Remove targets that hold no noun or end in a predicate."""
    kept = list(labels)
    first = 0
    while first < len(kept):
        end = first + 1
        if kept[first] == "B":
            while end < len(kept) and kept[end] == "I":
                end += 1
            if not _is_noun_phrase([word.tag for word in reading.words[first:end]], reading.language):
                kept[first:end] = ["O"] * (end - first)
        first = end
    return kept


def _is_noun_phrase(tags: Sequence[str], language: Language) -> bool:
    if language == "en":
        return "N" in tags and tags[-1] not in ("V", "X", "R")
    return any(tag in NOUNS for tag in tags) and not any(tag.startswith(("V", "E", "XSV", "XSA")) for tag in tags)


def gold_places(reading: Reading, gold: Sequence[dict[str, Any]]) -> set[tuple[int, int]]:
    """Return the positions of the explicit gold terms."""
    places = set()
    for gold_tuple in gold:
        span = gold_tuple.get("span")
        place = (span["start"], span["end"]) if span else find_term(reading, gold_tuple["aspect_term"])
        if gold_tuple["aspect_term"] and place is not None:
            places.add((place[0], place[1]))
    return places


def judged_targets(example: Example) -> Iterator[Judged]:
    """Yield every explicit target with each of its polarities."""
    polarities: dict[tuple[str, int, int], list[str]] = {}
    for gold_tuple in example.row.gold:
        span = gold_tuple.get("span")
        if gold_tuple["aspect_term"] and span:
            known = polarities.setdefault((gold_tuple["aspect_term"], span["start"], span["end"]), [])
            if gold_tuple["polarity"] not in known:
                known.append(gold_tuple["polarity"])
    for (term, start, end), target_polarities in polarities.items():
        place = place_of(example.reading, start, end)
        if place.first == place.end:
            continue
        features = target_features(example.reading, place, judge_term(example.reading, term))
        for polarity in target_polarities:
            yield Judged(features, polarity, 1.0 / len(target_polarities), example.habits)


def judged_text(example: Example) -> Judged | None:
    """Return a text with its polarity if all its opinions share one."""
    found = {gold_tuple["polarity"] for gold_tuple in example.row.gold} or {example.row.document_polarity}
    polarity = next(iter(found))
    if len(found) > 1 or not polarity:
        return None
    return Judged(text_features(example.reading), polarity, 1.0, example.habits)
