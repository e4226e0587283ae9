"""The words for each reason code. `--explain` shows both, since programs and papers quote the codes."""

from typing import Final, Literal

from episodic_absa.schemas.run_files.adoption import OverrideDecision
from episodic_absa.vocabulary import AdoptReason, InjectionSkip, ModeratorRule, OverrideSkip, StoreSkip

INJECTION_SKIP_WORDS: Final[dict[InjectionSkip, str]] = {
    "": "",
    "not_exposed": "the condition does not show memory here",
    "gate_closed": "nothing in Stage1 calls for advice",
    "empty_bundle": "there is no advice",
    "char_cap": "it does not fit the character cap",
}
ADOPT_WORDS: Final[dict[AdoptReason, str]] = {
    "risk_resolved": "a change was applied and the validator finds less risk",
    "debate_action": "the debate made or backed a change",
    "grounding_improved": "an aspect is named where none was",
    "conflict_blocked": "the changes would leave an aspect with two polarities",
    "low_signal": "no signal for a change is strong enough",
    "ev_below_threshold": "the evidence value is too low",
}
STORE_SKIP_WORDS: Final[dict[StoreSkip, str]] = {
    "": "",
    "store_write_disabled": "the condition stores nothing",
    "no_gate_passed": "neither risky, nor useful, nor new",
    "plain_sample": "nobody proposed a change and no gate is open",
}
MODERATOR_RULE_WORDS: Final[dict[ModeratorRule, str]] = {
    "Z": "nothing judged",
    "B": "base stage",
    "M": "mixed",
    "C": "validator",
    "A": "agreement",
    "D": "disagreement",
    "E": "judge",
    "P": "pairs",
    "T": "whole text",
}
_OVERRIDE_WORDS: Final[dict[OverrideSkip | Literal[""], str]] = {
    "": "",
    "max_one_override_per_sample": "another override is applied already",
    "neutral_only": "no hint for + or -",
    "no_evidence_span": "the judge cites no evidence",
    "evidence_span_not_in_text": "the cited evidence is not in the text",
    "evidence_span_missing_trigger": "the cited evidence is too short",
    "low_signal": "weight {weight:g} < {limits.min_total:g}",
    "action_ambiguity": "margin {decision.margin:g} < {limits.min_margin:g}",
    "l3_conservative": "an L3 risk covers the aspect",
    "implicit_soft_only": "the opinion is implicit",
    "already_confident": "the aspect has that polarity already",
}


def override_words(decision: OverrideDecision) -> str:
    """Return why an override was not applied, with the numbers that decided it."""
    weight = max(decision.pos, decision.neg)
    return _OVERRIDE_WORDS[decision.reason].format(decision=decision, limits=decision.thresholds, weight=weight)
