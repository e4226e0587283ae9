"""The judge: takes up a grounded edit that no stronger evidence opposes, and settles one polarity per aspect."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from episodic_absa.backends.embedded.judgement.sentence_label import sentence_label
from episodic_absa.backends.embedded.judgement.two_readers import is_doubtful, weights_lead
from episodic_absa.backends.embedded.reading import MAX_ITEMS, Reading
from episodic_absa.backends.embedded.roles.second_looks import SecondLooks, second_looks
from episodic_absa.backends.embedded.roles.tuple_review import (
    conflicting,
    has_quotation,
    judged_sentiments,
    reread,
    target_of,
)
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.language import norm
from episodic_absa.schemas.absa import DebateTurn, PatchEdit, ProposedEdit, SentimentItem
from episodic_absa.schemas.role_inputs import JudgeInputs
from episodic_absa.schemas.seed_answers import AnsweredTuple, JudgeAnswer
from episodic_absa.vocabulary import POLARITIES, Polarity, Speaker

_POLARITY_SPEAKERS: Final[tuple[Speaker, ...]] = ("epm", "cj")
"""TAN confirms targets, not polarities."""
_UNSAID: Final = 0.5
_CAUTION_MARGIN: Final = 0.15
_MAX_OPENING: Final = 80


class _Ruling(NamedTuple):
    polarity: Polarity | None
    """None: the tuple is dropped."""
    patch: PatchEdit | None
    evidence: str
    is_open: bool


def answer_judge(reading: WeighedReading, inputs: JudgeInputs) -> JudgeAnswer:
    """Settle the debate."""
    looks = second_looks(inputs.memory)
    sentiments = judged_sentiments(inputs.stage1)[:MAX_ITEMS]
    conflicts = conflicting(sentiments)
    patches: list[PatchEdit] = []
    tuples: dict[str, AnsweredTuple] = {}
    evidence: dict[str, str] = {}
    unresolved: list[str] = []
    surest: dict[str, float] = {}
    for sentiment in sentiments:
        ruling = _rule(reading, sentiment, inputs.turns, looks)
        if ruling.patch is not None:
            patches.append(ruling.patch)
        if ruling.is_open or (norm(sentiment.aspect_term) in conflicts and ruling.patch is None):
            unresolved.append(sentiment.aspect_term)
        if ruling.polarity is None or sentiment.is_backfilled:
            continue
        # One polarity per aspect: an edited one beats the one beside it, then the surer one.
        if ruling.patch is not None or sentiment.confidence > surest.get(sentiment.aspect_term, -1.0):
            surest[sentiment.aspect_term] = 1.0 if ruling.patch is not None else sentiment.confidence
            tuples[sentiment.aspect_term] = AnsweredTuple(
                aspect_ref=sentiment.aspect_term, aspect_term=sentiment.aspect_term, polarity=ruling.polarity
            )
            if ruling.evidence:
                evidence[sentiment.aspect_term] = ruling.evidence
    settled = [_as_settled(sentiment, tuples) for sentiment in sentiments if sentiment.aspect_term in tuples]
    return JudgeAnswer(
        final_patch=tuple(patches),
        final_tuples=tuple(tuples.values()),
        unresolved_conflicts=tuple(dict.fromkeys(unresolved)),
        sentence_polarity=sentence_label(reading, settled)[0],
        sentence_evidence_spans=tuple(dict.fromkeys(evidence.values())) or _opening(reading),
        aspect_evidence=evidence,
        rationale=_rationale(patches, looks),
    )


def _rule(
    reading: WeighedReading,
    sentiment: SentimentItem,
    turns: Sequence[DebateTurn],
    looks: SecondLooks,
) -> _Ruling:
    about = [(turn.agent, edit) for turn in turns for edit in turn.proposed_edits if _is_about(edit, sentiment)]
    kept = _Ruling(
        sentiment.polarity, None, sentiment.evidence if sentiment.evidence in reading.text else "", is_open=False
    )
    asked_to_drop = any(edit.op == "drop_tuple" for _, edit in about)
    if asked_to_drop and (is_doubtful(reading, sentiment) or not has_quotation(reading, sentiment)):
        return _Ruling(None, PatchEdit(op="drop_tuple", target=target_of(sentiment)), "", is_open=False)
    proposals = [
        edit
        for _, edit in about
        if edit.op == "set_polarity" and edit.value != sentiment.polarity and _is_grounded(reading, edit)
    ]
    if not proposals:
        return kept
    best = max(proposals, key=lambda edit: edit.confidence or _UNSAID)
    value = next((polarity for polarity in POLARITIES if polarity == best.value), None)
    if value is None or not _outweighs(reading, sentiment, best, about, looks):
        return kept._replace(is_open=True)
    patch = PatchEdit(op="set_polarity", target=target_of(sentiment), value=value)
    return _Ruling(value, patch, best.evidence or "", is_open=False)


def _outweighs(
    reading: WeighedReading,
    sentiment: SentimentItem,
    best: ProposedEdit,
    about: Sequence[tuple[Speaker, ProposedEdit]],
    looks: SecondLooks,
) -> bool:
    """Weigh the proposal and its seconders against those who confirm; the judge's own reading breaks the tie."""
    asked = sum(
        edit.confidence or _UNSAID for _, edit in about if edit.op == "set_polarity" and edit.value == best.value
    )
    kept = sum(
        edit.confidence or _UNSAID
        for agent, edit in about
        if edit.op == "confirm_tuple" and agent in _POLARITY_SPEAKERS and edit.evidence
    )
    own = reread(reading, sentiment, looks)
    if own is not None and own.has_own_words:
        asked += own.confidence if own.polarity == best.value else 0.0
        kept += own.confidence if own.polarity == sentiment.polarity else 0.0
    value = next((polarity for polarity in POLARITIES if polarity == best.value), None)
    if value is not None:
        kept += weights_lead(reading, sentiment, value)
    return asked > kept + _CAUTION_MARGIN * looks.caution


def _is_about(edit: ProposedEdit, sentiment: SentimentItem) -> bool:
    if norm(edit.target.aspect_ref) != norm(sentiment.aspect_term):
        return False
    return edit.target.polarity is None or edit.target.polarity == sentiment.polarity


def _is_grounded(reading: Reading, edit: ProposedEdit) -> bool:
    return bool(edit.evidence) and (edit.evidence or "") in reading.text


def _as_settled(sentiment: SentimentItem, tuples: dict[str, AnsweredTuple]) -> SentimentItem:
    polarity = next(known for known in POLARITIES if known == tuples[sentiment.aspect_term].polarity)
    return sentiment.model_copy(update={"polarity": polarity})


def _opening(reading: Reading) -> tuple[str, ...]:
    """Return the beginning of a text without evidence: the answer must quote some substring."""
    opening = reading.quote(0, _MAX_OPENING).strip()
    return (opening,) if opening else ()


def _rationale(patches: Sequence[PatchEdit], looks: SecondLooks) -> str:
    looked = f" Second looks: {', '.join(sorted(looks.looks))}." if looks.looks else ""
    if not patches:
        return f"No edit had stronger evidence than the first reading.{looked}"
    named = ", ".join(f"{patch.op} on '{patch.target.aspect_ref}'" for patch in patches)
    return f"Taken up because quoted words support it: {named}.{looked}"[:1000]
