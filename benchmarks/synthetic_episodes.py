"""Schema-valid episodes as the pipeline would leave them: made from samples, not from random strings.

Signatures, risks, proposals and outcomes follow the skewed frequencies of reviews: most texts are short, have one to
three aspects and no or one risk.
"""

import random
from collections.abc import Iterator
from typing import get_args

from episodic_absa.memory.advice.principles import load_catalogue
from episodic_absa.memory.episodes.episode_builder import EpisodeBuilder
from episodic_absa.schemas.absa import (
    AspectItem,
    ModeratorSummary,
    Proposal,
    ReviewOutcome,
    SentimentItem,
    Stage1Ate,
    Stage1Atsa,
    Stage1Result,
    StructuralRisk,
    ValidatorOutput,
)
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1, ProvenanceV1_1
from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3
from episodic_absa.vocabulary import AdoptReason, ChangeKind, Language, Outcome, Polarity, RiskId, Severity, Verdict

DISTINCT_DRAFTS = 20_000
_LINES_AT_ONCE = 4_000
_CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

_TERMS = {
    "ko": ("서비스", "음식", "가격", "분위기", "배송", "화면", "배터리", "객실", "강의", "직원"),
    "en": ("service", "food", "price", "room", "battery", "screen", "staff", "course", "view", "delivery"),
    "other": ("x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10"),
}
_MARKERS = {"ko": ("-지만", "-는데", "하지만", "근데"), "en": ("but", "however", "although"), "other": (None,)}
_RISK_SETS: tuple[tuple[tuple[RiskId, ...], int], ...] = (
    ((), 40),
    (("CONTRAST_SCOPE",), 14),
    (("NEGATION_SCOPE",), 14),
    (("EVIDENCE_GAP",), 7),
    (("CONTRAST_SCOPE", "NEGATION_SCOPE"), 7),
    (("POLARITY_MISMATCH",), 5),
    (("MISSING_SECOND_ASPECT",), 4),
    (("SPAN_MISMATCH",), 4),
    (("IRONY",), 2),
    (("CONTRAST_SCOPE", "MISSING_SECOND_ASPECT"), 2),
    (("OTHER",), 1),
)
_SEVERITIES: tuple[Severity, ...] = ("low", "mid", "high")
_POLARITIES: tuple[Polarity, ...] = ("positive", "negative", "neutral")
_ADOPTED: tuple[AdoptReason, ...] = ("risk_resolved", "debate_action", "grounding_improved")
_NOT_ADOPTED: tuple[AdoptReason, ...] = ("low_signal", "low_signal", "ev_below_threshold", "conflict_blocked")


def signatures(rng: random.Random) -> Iterator[InputSignatureV1_1]:
    """Yield signatures of texts without end."""
    while True:
        language: Language = rng.choices(("ko", "en", "other"), (50, 47, 3))[0]
        negation = language != "other" and rng.random() < 0.3
        contrast = language != "other" and rng.random() < 0.3
        irony = language != "other" and rng.random() < 0.03
        found = (("negation", negation), ("contrast", contrast), ("irony", irony))
        yield InputSignatureV1_1.model_validate(
            {
                "language": language,
                "detected_structure": [name for name, there in found if there] or ["none"],
                "contrast_marker": rng.choice(_MARKERS[language]) if contrast else None,
                "has_negation": None if language == "other" else negation,
                "num_aspects": rng.choices(range(7), (5, 35, 30, 15, 8, 5, 2))[0],
                "length_bucket": rng.choices(("short", "medium", "long"), (45, 45, 10))[0],
            }
        )


def stage1_for(signature: InputSignatureV1_1, rng: random.Random) -> Stage1Result:
    """Return a Stage1 result that fits a signature."""
    terms = rng.sample(_TERMS[signature.language], signature.num_aspects)
    risks = rng.choices([r for r, _ in _RISK_SETS], [weight for _, weight in _RISK_SETS])[0]
    proposals = rng.random() < 0.3 if risks else False
    return Stage1Result(
        ate=Stage1Ate(aspects=tuple(AspectItem(aspect_term=term) for term in terms)),
        atsa=Stage1Atsa(
            sentiments=tuple(
                SentimentItem(aspect_term=term, polarity=rng.choice(_POLARITIES), confidence=rng.randint(40, 95) / 100)
                for term in terms or [""]
            )
        ),
        validator=ValidatorOutput(
            structural_risks=tuple(
                StructuralRisk(id=f"r{n}", type=risk, severity=rng.choice(_SEVERITIES))
                for n, risk in enumerate(risks, start=1)
            ),
            correction_proposals=(Proposal(aspect_term=(terms or [""])[0], proposal_type="FLIP_POLARITY"),)
            if proposals
            else (),
        ),
    )


def drafts(seed: int) -> Iterator[EpisodeDraftV1_3]:
    """Yield episodes without end."""
    rng = random.Random(seed)
    builder = EpisodeBuilder(load_catalogue())
    for index, signature in enumerate(signatures(rng)):
        stage1 = stage1_for(signature, rng)
        adopted = rng.random() < 0.35
        sentiments = list(stage1.atsa.sentiments)
        if adopted or rng.random() < 0.2:
            first = sentiments[0]
            other = rng.choice([polarity for polarity in _POLARITIES if polarity != first.polarity])
            sentiments[0] = first.model_copy(update={"polarity": other, "confidence": 0.9})
        risks = stage1.validator.structural_risks
        fate = rng.random()
        left = risks[1:] if fate < 0.7 else risks
        grown = (*risks, StructuralRisk(id="n1", type="EVIDENCE_GAP")) if fate > 0.92 else left
        override = adopted and rng.random() < 0.5
        yield builder.build(
            "",
            signature,
            stage1,
            ReviewOutcome(
                aspects=stage1.ate.aspects,
                sentiments=tuple(sentiments),
                structural_risks=grown,
                override_applied=override,
                override_success=override and len(grown) < len(risks),
                override_harm=override and len(grown) > len(risks),
            ),
            ModeratorSummary(
                label="mixed",
                selected_stage="stage2" if adopted else "stage1",
                adopt_reason=rng.choice(_ADOPTED if adopted else _NOT_ADOPTED),
            ),
            ProvenanceV1_1(
                source_id=f"synthetic:{index:07d}",
                created_from_split="train",
                used_in_eval=False,
                sample_index=index,
                seed=seed,
            ),
        )
