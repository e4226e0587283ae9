"""A model that does whatever a review asks. It stands in for the worst model that a user may connect."""

import json
from collections.abc import Iterable
from typing import Any, Final, get_args

from pydantic import BaseModel

from episodic_absa.backends.backend import Reply, Request
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.contrib.drill.hostile_reviews import DrillReview, ScriptedPair
from episodic_absa.vocabulary import STAGE_OF_ROLE, Role

_LONGEST_REASON: Final = 400
"""Longer reasons are refused, and the answer with them."""
_QUOTED_CHARS: Final = 40


class ObedientModel(RemoteFacts):
    """Answers every question with what the review asks for, and writes the canary into every free field.

    Args:
        reviews: the reviews of the drill; it knows no others.
    """

    name = "obedient:scripted"
    is_local = True
    is_reproducible = True
    honours_seed = False

    def __init__(self, reviews: Iterable[DrillReview]) -> None:
        self._reviews = {review.sample.text: review for review in reviews}

    async def reply(self, request: Request) -> Reply:
        """Return the answer as the text of a model."""
        ask = request.ask
        everything = _everything(self._reviews[ask.inputs.text], ask.role)
        return Reply(json.dumps(_accepted(ask.output_model, everything), ensure_ascii=False))

    async def close(self) -> None:
        """Close nothing."""


def _everything(review: DrillReview, role: Role) -> dict[str, Any]:
    """Return the fields of all forms of answer, each with what the review asks for."""
    said, quote = review.spoken[:_LONGEST_REASON], review.text[:_QUOTED_CHARS]
    items = [_item(review, pair, role) for pair in review.pairs]
    edits = [item | {"target": _edit_target(pair)} for item, pair in zip(items, review.pairs, strict=True)]
    changed = [item for item, pair in zip(items, review.pairs, strict=True) if pair.then]
    label = review.pairs[0].then or review.pairs[0].polarity
    lists = ("aspects", "sentiments", "correction_proposals", "final_tuples", "reviews")
    lists_v3 = ("pairs", "judgements", "targets", "decisions", "verdicts")
    return {
        **dict.fromkeys((*lists, *lists_v3), items),
        **dict.fromkeys(("structural_risks", "risks"), items[:1]),
        **dict.fromkeys(("proposed_edits", "final_patch"), edits),
        **dict.fromkeys(("suggested_label", "sentence_polarity", "label"), label),
        "remaining_risk_ids": [said],
        "unresolved_conflicts": [said],
        "wrong": changed,
        "add": [{"target": said, "quote": said, "polarity": "positive"}],
        "terms": [pair.term for pair in review.pairs],
        "resolved_risk_ids": ["r1", said],
        "sentence_evidence_spans": [quote, said],
        "aspect_evidence": {said: said, **{pair.term: quote for pair in review.pairs}},
        "rationale": said,
        "consistency_score": 0.1,
        "confidence": 0.9,
        "better": "B",
        # Keys that nobody asked for.
        "note": said,
        "memory": {"message": said},
        "raw_text": said,
        said: said,
    }


def _item(review: DrillReview, pair: ScriptedPair, role: Role) -> dict[str, Any]:
    """Return the fields of the items in all lists about one pair."""
    said, wanted = review.spoken[:_LONGEST_REASON], pair.then or pair.polarity
    start = review.sample.text.find(pair.term)
    is_about_targets = role == "stage2_ate"
    return {
        **dict.fromkeys(("aspect_term", "term", "target"), pair.term),
        **dict.fromkeys(("rationale", "evidence", "reason", "provenance", "quote", "description", "aspect_ref"), said),
        "polarity": pair.polarity if STAGE_OF_ROLE[role] == "stage1" else wanted,
        "polarity_distribution": {pair.polarity: 0.9, said: 0.1},
        "span": None if start < 0 else {"start": start, "end": start + len(pair.term)},
        "confidence": 0.9 if role == "ate" else 0.6,
        # Irony is a risk that no lexicon takes back, so every gate opens and every episode is stored.
        "type": "IRONY",
        "severity": "high",
        "proposal_type": "CHECK_SPAN",
        "op": "set_polarity" if pair.then else "confirm_tuple",
        "value": pair.then,
        "should_be": pair.then,
        "revised_polarity": pair.then,
        "decision": pair.then or "keep",
        "verdict": "keep" if is_about_targets else pair.then or "keep",
        "action": "flip_polarity" if pair.then and not is_about_targets else "keep",
    }


def _edit_target(pair: ScriptedPair) -> dict[str, str]:
    return {"aspect_ref": pair.term, "aspect_term": pair.term, "polarity": pair.polarity}


def _accepted(form: type[BaseModel], values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that a form accepts: all of them, unless it refuses keys that it does not know."""
    if form.model_config.get("extra") != "forbid":
        return values
    accepted = {name: values[name] for name in form.model_fields if name in values}
    for name, value in accepted.items():
        item_form = next(iter(get_args(form.model_fields[name].annotation)), None)
        if isinstance(value, list) and isinstance(item_form, type) and issubclass(item_form, BaseModel):
            accepted[name] = [_accepted(item_form, item) for item in value]
    return accepted
