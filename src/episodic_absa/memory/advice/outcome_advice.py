"""How advice of rules v3 speaks: a principle that fits the outcome of a past case, and what was done there."""

from collections.abc import Iterable
from typing import Final, NamedTuple, get_args

from episodic_absa.memory.advice.advisory_builder import Spoken, Voice
from episodic_absa.memory.advice.principles import Principle, PrincipleCatalogue
from episodic_absa.memory.episodes.judged_episode import is_changed
from episodic_absa.schemas.memory_v1_2 import AdvisoryV1_2, AnyAdvisory
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3
from episodic_absa.vocabulary import (
    ChangeKind,
    EpisodeType,
    Expects,
    PrincipleRisk,
)

CASE_MARK: Final[dict[Spoken, str]] = {"en": " [Similar case: ", "ko": " [비슷한 사례: "}
"""The beginning of what was done in the past case, just after the principle."""
_PAST_FAILURE: Final[dict[Spoken, str]] = {
    "ko": " [경고: 대상과 판단이 같은 조합이 반박된 적이 있다. 근거를 확인하라.]",
    "en": " [Warning: the same combination of target and judgement was contradicted before. Check the evidence.]",
}
_WITHHELD: Final[dict[Spoken, str]] = {
    "ko": "비슷한 사례의 조언 하나를 보류했다. 같은 조합이 반박된 적이 있으니 근거를 다시 확인하라.",
    "en": "Advice from a similar case is withheld: the same combination was contradicted before. "
    "Check the evidence once more.",
}
_DONE: Final[dict[Spoken, dict[ChangeKind, str]]] = {
    "en": {
        "flip": "a judgement was changed",
        "drop": "a target was dropped",
        "add": "a target was added",
        "span": "the boundary of a target was moved",
    },
    "ko": {"flip": "판단 변경", "drop": "대상 삭제", "add": "대상 추가", "span": "대상 범위 이동"},
}
_KEPT: Final[dict[Spoken, str]] = {"en": "the first analysis was kept", "ko": "첫 분석 유지"}
_REFUSED: Final[dict[Spoken, str]] = {
    "en": "a change was proposed and not made",
    "ko": "수정을 제안했으나 채택하지 않음",
}
_CHANGED: Final[dict[Spoken, str]] = {"en": "the first analysis was changed", "ko": "첫 분석 수정"}
"""For an episode that does not record its changes."""
_OUTCOME: Final[dict[Spoken, dict[EpisodeType, str]]] = {
    "en": {
        "success": "this was confirmed",
        "harm": "this was contradicted",
        "neutral": "whether this was right is open",
    },
    "ko": {"success": "확인됨", "harm": "반박됨", "neutral": "미정"},
}
_RISKS: Final = frozenset(risk for literal in get_args(PrincipleRisk) for risk in get_args(literal))


def _principle_of(catalogue: PrincipleCatalogue, episode: EpisodicMemoryEntryV1_3) -> Principle:
    """Look the principle up by the outcome that counts now: a verdict may have come after the episode."""
    for condition in episode.correction.applicable_conditions:
        name, _, value = condition.partition("=")
        if name == "risk" and value in _RISKS:
            return catalogue.lookup(value, episode.action_taken, episode.outcome.value)  # type: ignore[arg-type]
    return catalogue.get(episode.correction.principle_id) or catalogue.general


def _past_case(episode: EpisodicMemoryEntryV1_3, language: Spoken) -> str:
    done = _done(episode, language)
    if not done:
        return f"{CASE_MARK[language]}{(_REFUSED if episode.changes else _KEPT)[language]}]"
    outcome = _OUTCOME[language][episode.outcome.value]
    if language == "ko":
        return f"{CASE_MARK[language]}{', '.join(done)}, {outcome}]"
    return f"{CASE_MARK[language]}{' and '.join(done)}; {outcome}]"


def _done(episode: EpisodicMemoryEntryV1_3, language: Spoken) -> list[str]:
    """Return what was changed in the past case, in words; nothing if the first analysis was kept."""
    if episode.changes:
        return list(dict.fromkeys(_DONE[language][change.kind] for change in episode.changes if change.adopted))
    return [_CHANGED[language]] if is_changed(episode) else []


OUTCOME_VOICE: Final = Voice(
    schema=AdvisoryV1_2,
    principle_of=_principle_of,
    has_failed=lambda episode: episode.outcome.value == "harm",
    has_succeeded=lambda episode: episode.outcome.value == "success",
    past_case=_past_case,
    past_failure=_PAST_FAILURE,
    withheld=_WITHHELD,
)
"""Speaks of changes that were confirmed, contradicted or are open. No risk decides anything."""


class OneVoice(NamedTuple):
    """Advisories that agree with each other, and how many were left out for that."""

    advisories: tuple[AnyAdvisory, ...]
    repeated_n: int
    """Advisories whose principle a better ranked one has."""
    opposed_n: int
    """Advisories that ask to hold where a better ranked one asks to change, or the other way round."""


def one_voice(advisories: Iterable[AnyAdvisory], catalogue: PrincipleCatalogue) -> OneVoice:
    """Return the best ranked advisory of each principle, on the side of the best ranked of all."""
    kept: dict[str, AnyAdvisory] = {}
    side: Expects | None = None
    repeated = opposed = 0
    for advisory in advisories:
        principle = catalogue.get(advisory.evidence.principle_id) or catalogue.general
        if principle.principle_id in kept:
            repeated += 1
        elif side not in (None, principle.expects):
            opposed += 1
        else:
            side = principle.expects
            kept[principle.principle_id] = advisory
    return OneVoice(tuple(kept.values()), repeated, opposed)
