"""Strict scores of (aspect term, polarity) pairs: a pair counts only if both are equal; explicit gold only."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

Pair: TypeAlias = tuple[str, str]
_TRIMMED: Final = " \t.,;:!?\"'`()[]{}“”‘’"


class StrictScore(NamedTuple):
    """Micro scores over a dataset."""

    precision: float
    recall: float
    f1: float
    term_f1: float
    polarity_accuracy: float | None
    """Over the terms that are right; None without such a term."""

    def rounded(self) -> dict[str, float | None]:
        """Return the scores as they are reported."""
        return {name: None if value is None else round(value, 4) for name, value in self._asdict().items()}


def explicit_pairs(tuples: Iterable[Mapping[str, Any]]) -> set[Pair]:
    """Return comparable pairs; opinions without a named target are left out."""
    trimmed = ((trimmed_term(opinion.get("aspect_term")), str(opinion["polarity"])) for opinion in tuples)
    return {pair for pair in trimmed if pair[0]}


def trimmed_term(term: str | None) -> str:
    """Return a term as it is compared; empty if there is none."""
    return (term or "").strip(_TRIMMED).lower()


def strict_score(gold: Iterable[set[Pair]], found: Iterable[set[Pair]]) -> StrictScore:
    """Compare sample by sample."""
    hits = found_n = gold_n = term_hits = found_terms = gold_terms = right = 0
    for wanted, got in zip(gold, found, strict=True):
        hits, found_n, gold_n = hits + len(wanted & got), found_n + len(got), gold_n + len(wanted)
        wanted_terms, got_terms = {term for term, _ in wanted}, {term for term, _ in got}
        both = wanted_terms & got_terms
        term_hits, found_terms = term_hits + len(both), found_terms + len(got_terms)
        gold_terms += len(wanted_terms)
        right += sum(any(pair in wanted for pair in got if pair[0] == term) for term in both)
    precision = hits / found_n if found_n else 0.0
    recall = hits / gold_n if gold_n else 0.0
    return StrictScore(
        precision,
        recall,
        _f1(hits, found_n, gold_n),
        _f1(term_hits, found_terms, gold_terms),
        right / term_hits if term_hits else None,
    )


def _f1(hits: int, found: int, gold: int) -> float:
    return 2 * hits / (found + gold) if hits else 0.0
