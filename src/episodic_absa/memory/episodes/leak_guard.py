"""What may never enter a store: forbidden keys, open vocabulary, sentences as terms, runs of the review's text."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Final, get_args

from pydantic import BaseModel

from episodic_absa.errors import LeakageError
from episodic_absa.language import ends_in_predicate, forms, norm
from episodic_absa.memory.advice.principles import PrincipleCatalogue
from episodic_absa.schemas.memory_v1_1 import SnapshotV1_1
from episodic_absa.schemas.stored.memory_v1_3 import AnswerV1_3, EpisodeDraftV1_3, VerdictV1_3
from episodic_absa.store.additions import Guard
from episodic_absa.store.uids import stored_uid
from episodic_absa.vocabulary import (
    RISK_IDS,
    STRUCTURES,
    ActionTaken,
    AdoptReason,
    Language,
    ProposalType,
    Severity,
)

FORBIDDEN_KEYS: Final = frozenset(
    {"raw_text", "raw_text_hash", "text", "gold", "gold_label", "gold_polarity", "cot", "chain_of_thought"}
)
LONG_TERM: Final = "long_term"
"""Stored in place of an aspect term that may be a sentence, so that no sentence enters the store as a term."""
IMPLICIT_TARGET: Final = "implicit"
MAX_TERM_CHARS: Final = 20
MAX_TERM_WORDS: Final = 4
_CHAR_RUN: Final = 12
_WORD_RUN: Final = 5
_WORD = re.compile(r"\w+")
# Letters and marks without a glyph: Hangul fillers, variation selectors, the grapheme joiner.
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def stored_term(term_key: str, text: str | None = None) -> str:
    """Return a normalised term as the store holds it: without hidden characters, and `long_term` for a sentence.

    A term counts as a sentence if it has more than 20 characters or 4 words, if it ends in a Korean predicate, or if it
    covers more than half of the letters of the text.

    Args:
        term_key: the term, as `norm_key` gives it.
        text: the text that the term is from; None if it is not known.

    Example:
        >>> stored_term("침대\u200b", "침대가 너무 딱딱해서 잠을 못 잤어요"), stored_term("great food", "Great food!")
        ('침대', 'long_term')
    """
    term = norm("".join(char for char in term_key if not _is_hidden(char))) if _hides(term_key) else term_key
    covers_text = text is not None and 2 * _letter_n(term) > _letter_n(norm(text)) > 0
    return LONG_TERM if covers_text or not _is_short(term) or ends_in_predicate(term) else term


def refuse_forbidden_keys(value: Any) -> None:
    """Raise LeakageError if a value has a forbidden key at any depth. Keys of `polarities` are terms and allowed."""
    for path, key in _keys(value, ""):
        if key in FORBIDDEN_KEYS:
            raise LeakageError(f"an episode must not hold the key {path}", field=path)


def refuse_open_vocabulary(draft: EpisodeDraftV1_3, catalogue: PrincipleCatalogue) -> None:
    """Raise LeakageError unless every string is a short term, an id or a text of the catalogue or the vocabulary."""
    summary, correction, marker = draft.case_summary, draft.correction, draft.input_signature.contrast_marker
    principle, judged = catalogue.get(correction.principle_id), draft.stage_snapshot
    closed = {
        "case_summary.symptom": _is_symptom(summary.symptom),
        "case_summary.rationale_summary": _is_rationale(summary.rationale_summary),
        "case_summary.target_aspect_type": _is_stored_term(summary.target_aspect_type),
        "stage_snapshot.stage1": judged is None or _holds_stored_terms(judged.stage1),
        "stage_snapshot.final": judged is None or _holds_stored_terms(judged.final),
        "input_signature.contrast_marker": marker is None or marker in _contrast_forms(),
        "correction.principle_id": principle,
        "correction.corrective_principle": principle and correction.corrective_principle in principle.wordings_en,
        "correction.anti_pattern": correction.anti_pattern is None
        or (principle and correction.anti_pattern == principle.anti_pattern_en),
        "correction.applicable_conditions": all(map(_CONDITION.fullmatch, correction.applicable_conditions)),
    }
    for field, holds in closed.items():
        if not holds:
            raise LeakageError(
                f"{field} holds words outside the store's closed vocabulary; free text is never stored", field=field
            )


def refuse_open_terms(field: str, terms: Iterable[str]) -> None:
    """Raise LeakageError unless every term of an answer or a verdict is one that `stored_term` gives.

    Example:
        >>> refuse_open_terms("terms", ("room", "long_term"))
        >>> refuse_open_terms("terms", ("the room that we had booked",))
        Traceback (most recent call last):
        ...
        episodic_absa.errors.LeakageError: terms holds words that are no short term; free text is never stored
    """
    if not all(map(_is_stored_term, terms)):
        raise LeakageError(f"{field} holds words that are no short term; free text is never stored", field=field)


class TextRuns:
    """The runs of a text that no stored string may repeat: 12 characters in Korean, 5 words in English.

    Args:
        text: the review.
        language: its language.
        apart_from: strings that were there before the review; a run that one of them holds is not counted.
    """

    def __init__(self, text: str, language: Language, *, apart_from: Iterable[str] = ()) -> None:
        folded, others = _folded(text), [_folded(string) for string in apart_from]
        self._of_chars = _runs(folded, _CHAR_RUN) if language != "en" else frozenset()
        self._of_words = _runs(tuple(_WORD.findall(folded)), _WORD_RUN) if language != "ko" else frozenset()
        if self._of_chars:
            self._of_chars -= frozenset().union(*(_runs(other, _CHAR_RUN) for other in others))
        if self._of_words:
            self._of_words -= frozenset().union(*(_runs(tuple(_WORD.findall(other)), _WORD_RUN) for other in others))

    def stand_in(self, string: str) -> bool:
        """Return whether a string repeats one of the runs, in any case and spacing."""
        candidate = _folded(string)
        if self._of_chars and not self._of_chars.isdisjoint(_runs(candidate, _CHAR_RUN)):
            return True
        words = tuple(_WORD.findall(candidate)) if self._of_words else ()
        return not self._of_words.isdisjoint(_runs(words, _WORD_RUN))


def is_id(uid: str, text: str) -> bool:
    """Return whether a uid is an id, which a review may name, and no part of the review that was taken as its uid.

    White space is a sign of text, and so is a uid beyond ASCII that makes up more than half of the review.

    Example:
        >>> is_id("order-2026-0117", "order-2026-0117: the soup was cold")
        True
        >>> is_id("the soup was cold", "the soup was cold, the staff was kind")
        False
    """
    return not any(map(str.isspace, uid)) and (uid.isascii() or 2 * len(uid) <= len(text))


def refuse_text_runs(draft: EpisodeDraftV1_3, text: str, language: Language) -> None:
    """Raise LeakageError if a string of the episode, aspect terms excepted, repeats a run of the sample's text."""
    runs = TextRuns(text, language)
    for field, string in _strings(draft.model_dump(), ""):
        # The store hashes an id that looks like text.
        is_uid = field == _SOURCE_ID and (is_id(string, text) or stored_uid(string) != string)
        if runs.stand_in(string) and not is_uid:
            raise LeakageError(f"{field} repeats the text of the sample; nothing was stored", field=field)


@cache
def _contrast_forms() -> frozenset[str]:
    places = (("ko", "contrast", "words"), ("ko", "contrast", "endings"), ("en", "contrast", "words"))
    return frozenset(form for place in places for form in forms(*place))


def _choices(words: tuple[str, ...]) -> str:
    return "(?:" + "|".join(map(re.escape, words)) + ")"


def _list_of(words: tuple[str, ...]) -> str:
    return f"{_choices(words)}(?:,{_choices(words)})*"


_SYMPTOM = re.compile(
    f"risks=(?:none|{_list_of(RISK_IDS)}); structure={_list_of(STRUCTURES)}; "
    f"max_severity={_choices((*get_args(Severity), 'none'))}"
)
_RATIONALE = re.compile(
    f"proposals=(?:none|{_list_of(get_args(ProposalType))}); action={_choices(get_args(ActionTaken))}; "
    f"adopt={_choices(get_args(AdoptReason))}"
)
_CONDITION = re.compile(
    f"language={_choices(get_args(Language))}|structure={_list_of(STRUCTURES)}"
    f"|risk={_choices((*RISK_IDS, 'conflict', 'implicit', 'none'))}"
)


# The vocabulary is closed, so the same few strings are checked again and again.
@lru_cache(maxsize=4096)
def _is_symptom(symptom: str) -> bool:
    return _SYMPTOM.fullmatch(symptom) is not None


@lru_cache(maxsize=4096)
def _is_rationale(rationale: str) -> bool:
    return _RATIONALE.fullmatch(rationale) is not None


def _hides(term: str) -> bool:
    # Most terms are plain ASCII, which needs no look at each character.
    return not (term.isascii() and term.isprintable()) and any(map(_is_hidden, term))


def _is_hidden(char: str) -> bool:
    """Return whether a character controls the text around it (bidi and zero-width ones, too) or shows nothing."""
    return unicodedata.category(char) in ("Cc", "Cf") or _INVISIBLE.match(char) is not None


def _letter_n(string: str) -> int:
    return sum(map(str.isalpha, string))


def _is_short(term: str) -> bool:
    return len(term) <= MAX_TERM_CHARS and len(term.split()) <= MAX_TERM_WORDS


@lru_cache(maxsize=4096)
def _is_stored_term(term: str) -> bool:
    return _is_short(term) and norm(term) == term and not _hides(term)


def _holds_stored_terms(snapshot: SnapshotV1_1) -> bool:
    return all(map(_is_stored_term, (*snapshot.aspects_norm, *snapshot.polarities)))


def _keys(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            inside = f"{path}.{key}" if path else str(key)
            if path.rpartition(".")[2] != "polarities":
                yield inside, key
            yield from _keys(item, inside)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _keys(item, path + "[]")


_TERM_FIELDS: Final = ("aspects_norm", "target_aspect_type")
_SOURCE_ID: Final = "provenance.source_id"


def _strings(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield every string with its path, aspect terms excepted. Keys are not checked: a model fixes them."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _TERM_FIELDS:
                yield from _strings(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item, path)


def _folded(string: str) -> str:
    """Return a string in one case with single spaces, for comparison."""
    return " ".join(unicodedata.normalize("NFC", string).casefold().split())


def _runs(sequence: str | tuple[str, ...], length: int) -> frozenset[str | tuple[str, ...]]:
    """Return every run of that length."""
    return frozenset(sequence[start : start + length] for start in range(len(sequence) - length + 1))


def store_guard(
    catalogue: PrincipleCatalogue,
    *,
    actions: Collection[str] = get_args(ActionTaken),
    context: Mapping[str, Collection[str]] | None = None,
) -> Guard:
    """Return what a store asks before it writes; it raises LeakageError.

    Args:
        catalogue: the principles that episodes may name.
        actions: the words for what was done.
        context: the keys that an episode may have beyond its signature, and the values of each.
    """
    known = {key: frozenset(values) for key, values in (context or {}).items()}

    def refuse(value: BaseModel) -> None:
        if isinstance(value, EpisodeDraftV1_3):
            refuse_open_vocabulary(value, catalogue)
            if value.action_taken not in actions:
                raise _open_word("action_taken")
            for key, word in value.context.items():
                if key in FORBIDDEN_KEYS or word not in known.get(key, ()):
                    raise _open_word("context")
        elif isinstance(value, VerdictV1_3):
            refuse_open_terms("aspect", () if value.aspect is None else (value.aspect,))
        elif isinstance(value, AnswerV1_3):
            refuse_open_terms("pairs", (pair.aspect for pair in value.pairs))

    return refuse


def _open_word(field: str) -> LeakageError:
    return LeakageError(
        f"{field} holds words outside the store's closed vocabulary; free text is never stored", field=field
    )
