"""Step 4 of the patch, after the override gate: the drops and the polarities of the debate's judge."""

from episodic_absa.language import norm, read_polarity
from episodic_absa.schemas.absa import DebateOutput, DebateSummary
from episodic_absa.seed.patch.patch_draft import PatchDraft
from episodic_absa.seed.review_context import TermMap
from episodic_absa.vocabulary import Polarity


def apply_judge_drops(draft: PatchDraft, debate: DebateOutput | None, terms: TermMap) -> frozenset[str]:
    """Remove the sentiments of each aspect that the judge and at least one speaker want dropped.

    Returns:
        The normalised aspects that lost their sentiments.
    """
    if debate is None:
        return frozenset()
    seconded = {
        terms.of(edit.target) for turn in debate.turns for edit in turn.proposed_edits if edit.op == "drop_tuple"
    } - {None}
    dropped = set()
    for edit in debate.summary.final_patch:
        aspect = terms.of(edit.target)
        if edit.op != "drop_tuple" or aspect is None:
            continue
        if aspect not in seconded:
            reason = "not_seconded"
        elif draft.drop_sentiments(aspect):
            reason = ""
            dropped.add(norm(aspect))
        else:
            reason = "no_matching_sentiment"
        draft.record("judge_drop", "drop_tuple", aspect, reason)
    return frozenset(dropped)


def judge_agrees_with_verdict(draft: PatchDraft, summary: DebateSummary, terms: TermMap) -> bool:
    """Return whether the judge sets a polarity that an applied verdict set, too."""
    return any(
        edit.op == "set_polarity"
        and (aspect := terms.of(edit.target)) is not None
        and (polarity := read_polarity(edit.value).polarity) is not None
        and (norm(aspect), polarity) in draft.verdict_polarities
        for edit in summary.final_patch
    )


def judge_polarities(summary: DebateSummary, terms: TermMap) -> dict[str, set[Polarity]]:
    """Return the polarities of the judge's tuples by normalised Stage1 aspect."""
    polarities: dict[str, set[Polarity]] = {}
    for judge_tuple in summary.final_tuples:
        aspect = terms.find(judge_tuple.aspect_ref)
        if aspect is None:
            aspect = terms.find(judge_tuple.aspect_term)
        if aspect is not None:
            polarities.setdefault(norm(aspect), set()).add(judge_tuple.polarity)
    return polarities
