"""Words what the store counts: how changes like those under debate turned out, and how familiar the targets are.

Equal counts give equal text. No message names a term or a label.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Final, NamedTuple

from episodic_absa.memory.retrieval.experience_counts import Experience
from episodic_absa.schemas.advisory_v1_2 import (
    EXPERIENCE_PRINCIPLES,
    FAMILIARITY_PRINCIPLE,
    AdvisoryV1_2,
    EvidenceV1_2,
    ExperienceEvidenceV1_2,
    FamiliarTargetV1_2,
)
from episodic_absa.vocabulary import ChangeKind, ExperienceLevel, Language, Strength

MIN_REVIEWS: Final = 5
"""Earlier reviews of the language that a statement about familiarity needs."""
MAX_TARGETS: Final = 12
"""The most targets that a message names; the evidence holds all."""
_Z90: Final = 1.6448536269514722
_RELEVANCE: Final[Mapping[ExperienceLevel, float]] = {
    "exact": 1.0,
    "no_length": 0.75,
    "no_aspects": 0.5,
    "any_structure": 0.25,
}
_CHANGE_EN: Final[Mapping[ChangeKind, str]] = {
    "flip": "a changed judgement",
    "drop": "a dropped target",
    "add": "an added target",
    "span": "a moved boundary of a target",
}
_CHANGE_KO: Final[Mapping[ChangeKind, str]] = {
    "flip": "판단을 바꾼 것은",
    "drop": "대상을 뺀 것은",
    "add": "대상을 더한 것은",
    "span": "대상의 범위를 옮긴 것은",
}


class _Reading(NamedTuple):
    """What a record of changes means for the next one."""

    en: str
    ko: str


_MOSTLY_WRONG: Final = _Reading(
    "Make such a change only if an exact quotation demands it.", "정확한 인용이 요구할 때만 그렇게 고쳐라."
)
_MOSTLY_RIGHT: Final = _Reading(
    "Make such a change where an exact quotation supports it.", "정확한 인용이 뒷받침하면 그렇게 고쳐라."
)
_UNDECIDED: Final = _Reading(
    "This record points neither way; go by the exact quotation.",
    "이 기록만으로는 어느 쪽인지 알 수 없으니 정확한 인용을 따르라.",
)


def confirmation_interval(confirmed: int, contradicted: int) -> tuple[float, float]:
    """Return the 90 % interval (Wilson) of the share of confirmed changes among the decided.

    Example:
        >>> confirmation_interval(3, 9)
        (0.106299, 0.483072)
    """
    decided = confirmed + contradicted
    if not decided:
        return 0.0, 1.0
    share, z2 = confirmed / decided, _Z90 * _Z90
    centre = share + z2 / (2 * decided)
    margin = _Z90 * sqrt(share * (1 - share) / decided + z2 / (4 * decided * decided))
    scale = 1 + z2 / decided
    return max(0.0, round((centre - margin) / scale, 6)), min(1.0, round((centre + margin) / scale, 6))


def experience_advisory(experience: Experience, language: Language) -> AdvisoryV1_2:
    """Return what the store knows of one kind of change, in Korean for Korean, else in English.

    Example:
        >>> experience_advisory(Experience("flip", "exact", 14, 3, 9, 2), "en").message
        'In 14 similar cases a changed judgement was confirmed 3 times and contradicted 9 times (2 open). Make such a change only if an exact quotation demands it.'
    """  # noqa: E501 - a doctest compares the whole message
    low, high = confirmation_interval(experience.confirmed, experience.contradicted)
    return AdvisoryV1_2(
        advisory_id="adv_000001",
        advisory_type="experience",
        message=experience_message(experience, language),
        strength=_strength(experience.confirmed + experience.contradicted, moderate=10, strong=20),
        relevance_score=_RELEVANCE[experience.level],
        evidence=EvidenceV1_2(
            principle_id=EXPERIENCE_PRINCIPLES[experience.kind],
            experience=ExperienceEvidenceV1_2(**experience._asdict(), rate_low=low, rate_high=high),
        ),
    )


def experience_message(experience: Experience | ExperienceEvidenceV1_2, language: Language) -> str:
    """Return the sentences about one kind of change."""
    confirmed, contradicted = experience.confirmed, experience.contradicted
    low, high = confirmation_interval(confirmed, contradicted)
    reading = _MOSTLY_WRONG if high < 0.5 else _MOSTLY_RIGHT if low > 0.5 else _UNDECIDED
    if language == "ko":
        return (
            f"비슷한 사례 {experience.similar_n}건에서 {_CHANGE_KO[experience.kind]} {confirmed}번 확인되고 "
            f"{contradicted}번 반박되었다({experience.open}건 미정). {reading.ko}"
        )
    return (
        f"In {experience.similar_n} similar cases {_CHANGE_EN[experience.kind]} was confirmed {_times(confirmed)} and "
        f"contradicted {_times(contradicted)} ({experience.open} open). {reading.en}"
    )


def familiarity_advisory(targets: Sequence[FamiliarTargetV1_2], language: Language) -> AdvisoryV1_2 | None:
    """Return how familiar the targets of an analysis are; None if there are too few earlier reviews to say.

    Example:
        >>> targets = [FamiliarTargetV1_2(position=1, seen_in=37, of=512), FamiliarTargetV1_2(position=2, seen_in=0, of=512)]
        >>> familiarity_advisory(targets, "en").message
        'Target 1 was a final target in 37 of 512 earlier reviews; target 2 in none.'
    """  # noqa: E501 - a doctest compares the whole message
    if not targets or targets[0].of < MIN_REVIEWS:
        return None
    return AdvisoryV1_2(
        advisory_id="adv_000001",
        advisory_type="familiarity",
        message=familiarity_message(targets, language),
        strength=_strength(targets[0].of, moderate=20, strong=100),
        relevance_score=1.0,
        evidence=EvidenceV1_2(principle_id=FAMILIARITY_PRINCIPLE, familiarity=tuple(targets)),
    )


def familiarity_message(targets: Sequence[FamiliarTargetV1_2], language: Language) -> str:
    """Return the sentence about the first twelve targets."""
    named = targets[:MAX_TARGETS]
    if language == "ko":
        listed = ", ".join(f"{target.position}번 대상이 {target.seen_in}개" for target in named)
        return f"앞선 리뷰 {named[0].of}개 가운데 {listed}에서 최종 대상이었다."
    first, *others = named
    listed = "".join(f"; target {target.position} in {target.seen_in or 'none'}" for target in others)
    seen = f"{first.seen_in or 'none'} of {first.of} earlier reviews"
    return f"Target {first.position} was a final target in {seen}{listed}."


def counted_message(advisory: AdvisoryV1_2, language: Language) -> str | None:
    """Return the message that the counts of an advisory demand; None if it holds no counts."""
    evidence = advisory.evidence
    if evidence.experience is not None:
        return experience_message(evidence.experience, language)
    return familiarity_message(evidence.familiarity, language) if evidence.familiarity else None


def counted_texts() -> Iterable[str]:
    """Yield every sentence about counts with sample numbers; `check` screens them for labels."""
    records = ((1, 9), (9, 1), (5, 5))
    languages: tuple[Language, ...] = ("en", "ko")
    for language in languages:
        for kind in EXPERIENCE_PRINCIPLES:
            for confirmed, contradicted in records:
                yield experience_message(Experience(kind, "exact", 12, confirmed, contradicted, 2), language)
        yield familiarity_message(
            [FamiliarTargetV1_2(position=1, seen_in=3, of=12), FamiliarTargetV1_2(position=2, seen_in=0, of=12)],
            language,
        )


def _times(number: int) -> str:
    return "1 time" if number == 1 else f"{number} times"


def _strength(number: int, *, moderate: int, strong: int) -> Strength:
    if number >= strong:
        return "strong"
    return "moderate" if number >= moderate else "weak"
