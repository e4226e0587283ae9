"""A situation in closed words, all that an agent tells the memory, and its episode. Neither has a field for text."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Literal, get_args

from episodic_absa.errors import InputError
from episodic_absa.language.caller_input import checked_language_code, checked_review
from episodic_absa.memory.advice.principles import PrincipleCatalogue, risk_key
from episodic_absa.memory.episodes.episode_builder import (
    correction_of,
    error_categories,
    risk_type_of,
    symptom_of,
)
from episodic_absa.memory.episodes.leak_guard import IMPLICIT_TARGET
from episodic_absa.memory.signature_builder import SignatureBuilder
from episodic_absa.schemas.absa import StructuralRisk, risk_vector
from episodic_absa.schemas.memory_v1_1 import (
    CaseSummaryV1_1,
    EvaluationV1_1,
    InputSignatureV1_1,
    OutcomeDeltaV1_1,
    ProvenanceV1_1,
    RiskVectorV1_1,
)
from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3, OutcomeV1_3
from episodic_absa.vocabulary import SEVERITY_WEIGHT, ActionTaken, EpisodeType, Language, LengthBucket, RiskId, Severity

SituationStructure = Literal["negation", "contrast", "irony"]
SituationRisk = Literal[
    "negation_scope",
    "contrast_scope",
    "irony",
    "polarity_mismatch",
    "evidence_gap",
    "span_mismatch",
    "missing_second_aspect",
    "other",
]
"""What may go wrong in a situation, as plain words; docs/agent_memory.md explains each."""

_LARGEST_COUNT: Final = 10_000


@dataclass(frozen=True, slots=True)
class Situation:
    """What an agent is about to judge, in words of a closed vocabulary.

    Args:
        language: the language of the text: `ko`, `en` or `other`.
        structures: what the text contains: `negation`, `contrast`, `irony`.
        risks: what may go wrong: `negation_scope`, `contrast_scope`, `irony`, `polarity_mismatch`, `evidence_gap`,
            `span_mismatch`, `missing_second_aspect`, `other`.
        severity: how grave the risks are: `low`, `mid` or `high`.
        conflict: whether two answers of the agent contradict each other.
        length: the length of the text: `short` (below 50 characters), `medium` (below 200) or `long`.
        targets: how many things the agent judges.

    Raises:
        InputError: a word is unknown. The message names the words that are known.

    Example:
        >>> from episodic_absa import Situation
        >>> Situation(language="en", structures={"negation"}, risks={"negation_scope"})
        Situation(en, medium, negation; risks: negation_scope)
    """

    language: Language
    structures: Collection[SituationStructure] = ()
    risks: Collection[SituationRisk] = ()
    severity: Severity = "mid"
    conflict: bool = False
    length: LengthBucket = "medium"
    targets: int = 1

    def __post_init__(self) -> None:
        _check("language", self.language, get_args(Language))
        _check("severity", self.severity, get_args(Severity))
        _check("length", self.length, get_args(LengthBucket))
        for name, known in (("structures", get_args(SituationStructure)), ("risks", get_args(SituationRisk))):
            words = getattr(self, name)
            if not isinstance(words, Iterable):
                raise InputError(f"{name} must be a set of words, got {type(words).__name__}", argument=name)
            words = (words,) if isinstance(words, str) else tuple(words)
            for word in words:
                _check(name, word, known)
            # Sets have no order; in the order of the vocabulary equal situations are equal and give equal bytes.
            object.__setattr__(self, name, tuple(word for word in known if word in words))
        if not isinstance(self.conflict, bool):
            raise InputError(f"conflict must be True or False, got {type(self.conflict).__name__}", argument="conflict")
        if (
            isinstance(self.targets, bool)
            or not isinstance(self.targets, int)
            or not 0 <= self.targets < _LARGEST_COUNT
        ):
            raise InputError(f"targets must be a whole number from 0 to {_LARGEST_COUNT - 1}", argument="targets")

    @classmethod
    def of_text(
        cls,
        text: str,
        *,
        language: str | None = None,
        risks: Collection[SituationRisk] = (),
        severity: Severity = "mid",
        conflict: bool = False,
        targets: int = 1,
    ) -> "Situation":
        """Return the situation of a text: language, structures and length are read off it; the text is not kept.

        Raises:
            InputError: the text is empty or no text, or a word is unknown.

        Example:
            >>> from episodic_absa import Situation
            >>> Situation.of_text("The screen is not dark.")
            Situation(en, short, negation)
        """
        if not isinstance(text, str):
            raise InputError(
                f"Situation.of_text reads the text of a case, a str, got {type(text).__name__}; without a text write "
                "Situation(language=...)",
                argument="text",
            )
        signature = SignatureBuilder().build(checked_review(text), checked_language_code(language), targets)
        return cls(
            language=signature.language,
            structures=tuple(word for word in signature.detected_structure if word != "none"),
            risks=risks,
            severity=severity,
            conflict=conflict,
            length=signature.length_bucket,
            targets=targets,
        )

    def __repr__(self) -> str:
        words = ", ".join([self.language, self.length, *self.structures, *(["conflict"] if self.conflict else [])])
        risks = f"; risks: {', '.join(self.risks)}" if self.risks else ""
        return f"Situation({words}{risks})"


def _check(argument: str, word: object, known: tuple[str, ...]) -> None:
    if not isinstance(word, str) or word not in known:
        # A caller may pass a text by mistake; the message does not repeat it.
        raise InputError(f"unknown word in {argument}; choose from: {', '.join(known)}", argument=argument)


Action = Literal["kept", "changed"]
"""What the agent did with its first answer."""
Outcome = Literal["better", "worse", "unclear"]
"""How that turned out, as far as the agent can tell without knowing the right answer."""

ACTION_TAKEN: Final[dict[Action, ActionTaken]] = {"kept": "abstain", "changed": "polarity_flip"}
EPISODE_TYPE: Final[dict[Outcome, EpisodeType]] = {"better": "success", "worse": "harm", "unclear": "neutral"}


def signature_of(situation: Situation) -> InputSignatureV1_1:
    """Return the signature by which a situation is compared with past ones."""
    structures = situation.structures
    return InputSignatureV1_1(
        language=situation.language,
        detected_structure=tuple(structures) or ("none",),
        has_negation=None if situation.language == "other" else "negation" in structures,
        length_bucket=situation.length,
        num_aspects=situation.targets,
    )


def risk_ids(situation: Situation) -> tuple[RiskId, ...]:
    """Return the risks as the store spells them."""
    spelled: dict[str, RiskId] = {
        "negation_scope": "NEGATION_SCOPE",
        "contrast_scope": "CONTRAST_SCOPE",
        "irony": "IRONY",
        "polarity_mismatch": "POLARITY_MISMATCH",
        "evidence_gap": "EVIDENCE_GAP",
        "span_mismatch": "SPAN_MISMATCH",
        "missing_second_aspect": "MISSING_SECOND_ASPECT",
        "other": "OTHER",
    }
    return tuple(spelled[risk] for risk in situation.risks)


def situation_episode(
    situation: Situation, action: Action, outcome: Outcome, case_id: str, catalogue: PrincipleCatalogue
) -> EpisodeDraftV1_3:
    """Return the episode of a situation, without an id: the store gives it one."""
    signature = signature_of(situation)
    risks = tuple(
        StructuralRisk(id=f"r{place}", type=risk, severity=situation.severity)
        for place, risk in enumerate(risk_ids(situation), start=1)
    )
    evaluation = _evaluation(risks, situation, action, outcome)
    about = risk_key(
        ((risk.type, risk.severity) for risk in risks), has_conflict=situation.conflict, has_implicit=False
    )
    principle = catalogue.lookup(about, ACTION_TAKEN[action], EPISODE_TYPE[outcome])
    return EpisodeDraftV1_3(
        outcome=OutcomeV1_3(by="agent", value=EPISODE_TYPE[outcome]),
        error_category=error_categories(risks, had_conflict=situation.conflict, has_implicit=False),
        risk_type=risk_type_of(risks, had_conflict=situation.conflict, has_implicit=False),
        action_taken=ACTION_TAKEN[action],
        input_signature=signature,
        case_summary=CaseSummaryV1_1(
            target_aspect_type=IMPLICIT_TARGET,
            symptom=symptom_of(risks, signature),
            rationale_summary=f"proposals=none; action={ACTION_TAKEN[action]}; "
            f"adopt={'debate_action' if action == 'changed' else 'low_signal'}",
        ),
        correction=correction_of(principle, signature, about),
        evaluation=evaluation,
        outcome_delta=OutcomeDeltaV1_1(
            conflict_resolved=outcome == "better" if situation.conflict else None,
            delta_risk=evaluation.risk_after.severity_sum - evaluation.risk_before.severity_sum,
        ),
        provenance=ProvenanceV1_1(
            source_id=case_id, created_from_split="unknown", used_in_eval=False, sample_index=0, seed=0
        ),
    )


def _evaluation(
    risks: tuple[StructuralRisk, ...], situation: Situation, action: Action, outcome: Outcome
) -> EvaluationV1_1:
    before = risk_vector(risks)
    after = before
    if risks and outcome == "better":
        after = RiskVectorV1_1(severity_sum=0, tags=())
    elif risks and outcome == "worse":
        graver = before.severity_sum + SEVERITY_WEIGHT[situation.severity]
        after = before.model_copy(update={"severity_sum": graver})
    return EvaluationV1_1(
        override_applied=action == "changed",
        override_success=action == "changed" and outcome == "better",
        override_harm=action == "changed" and outcome == "worse",
        risk_before=before,
        risk_after=after,
    )
