"""Builds the advisories of rules v3: a principle that fits the outcome of a past case, and what was done there."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple, get_args

from episodic_absa.memory.advice.advisory_builder import AdvisoryBuild, anchor_stats
from episodic_absa.memory.advice.dangerous_advice import Pair, final_pairs
from episodic_absa.memory.advice.principles import Principle, PrincipleCatalogue
from episodic_absa.memory.episodes.judged_episode import is_changed
from episodic_absa.memory.retriever import Likeness
from episodic_absa.schemas.advisory_v1_2 import AdvisoryV1_2
from episodic_absa.schemas.memory_v1_1 import EvidenceV1_1, InputSignatureV1_1
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3
from episodic_absa.vocabulary import (
    AdvisoryType,
    ChangeKind,
    EpisodeType,
    Expects,
    Language,
    PrincipleRisk,
    Strength,
)

CASE_MARK: Final = {"en": " [Similar case: ", "ko": " [비슷한 사례: "}
"""The beginning of what was done in the past case, just after the principle."""
_PAST_FAILURE: Final = {
    "ko": " [경고: 대상과 판단이 같은 조합이 반박된 적이 있다. 근거를 확인하라.]",
    "en": " [Warning: the same combination of target and judgement was contradicted before. Check the evidence.]",
}
_WITHHELD: Final = {
    "ko": "비슷한 사례의 조언 하나를 보류했다. 같은 조합이 반박된 적이 있으니 근거를 다시 확인하라.",
    "en": "Advice from a similar case is withheld: the same combination was contradicted before. "
    "Check the evidence once more.",
}
_DONE_EN: Final[dict[ChangeKind, str]] = {
    "flip": "a judgement was changed",
    "drop": "a target was dropped",
    "add": "a target was added",
    "span": "the boundary of a target was moved",
}
_DONE_KO: Final[dict[ChangeKind, str]] = {
    "flip": "판단 변경",
    "drop": "대상 삭제",
    "add": "대상 추가",
    "span": "대상 범위 이동",
}
_KEPT: Final = {"en": "the first analysis was kept", "ko": "첫 분석 유지"}
_REFUSED: Final = {"en": "a change was proposed and not made", "ko": "수정을 제안했으나 채택하지 않음"}
_CHANGED: Final = {"en": "the first analysis was changed", "ko": "첫 분석 수정"}
"""For an episode that does not record its changes."""
_OUTCOME: Final[dict[str, dict[EpisodeType, str]]] = {
    "en": {
        "success": "this was confirmed",
        "harm": "this was contradicted",
        "neutral": "whether this was right is open",
    },
    "ko": {"success": "확인됨", "harm": "반박됨", "neutral": "미정"},
}
_RISKS: Final = frozenset(risk for literal in get_args(PrincipleRisk) for risk in get_args(literal))


class _Case(NamedTuple):
    """A retrieved episode as advice sees it."""

    episode: EpisodicMemoryEntryV1_3
    outcome: EpisodeType
    principle: Principle


class OutcomeAdvisoryBuilder:
    """Builds one advisory of schema 1.2 per retrieved episode. No risk decides anything.

    Example:
        >>> from episodic_absa.memory import SignatureBuilder, load_catalogue
        >>> signature = SignatureBuilder().build("The food was good.", "en", 1)
        >>> OutcomeAdvisoryBuilder(load_catalogue().in_v3_wording()).build_from_episodes([], signature).advisories
        ()
    """

    def __init__(self, catalogue: PrincipleCatalogue) -> None:
        self._catalogue = catalogue

    def build_from_episodes(
        self,
        episodes: Sequence[EpisodicMemoryEntryV1_3],
        query_signature: InputSignatureV1_1,
        *,
        query_tokens: frozenset[str] = frozenset(),
        prohibit_dangerous: bool = False,
    ) -> AdvisoryBuild:
        """Return the advisories for a sample, in the order of the episodes.

        Args:
            episodes: the retrieved episodes, best first.
            query_signature: the signature of the sample; its language is the language of the messages.
            query_tokens: the tokens of the lexical query, from `Retriever.lexical_tokens`.
            prohibit_dangerous: True withholds advice whose (aspect, polarity) pair was contradicted before and adds a
                warning; False adds a note to the message.
        """
        language: Literal["ko", "en"] = "ko" if query_signature.language == "ko" else "en"
        likeness = Likeness(query_signature, query_tokens)
        cases = [self._case(episode) for episode in episodes]
        dangerous_pairs = _contradicted_pairs(cases)
        advisories: list[AdvisoryV1_2] = []
        warnings: list[tuple[str, str]] = []
        demoted = 0
        for case in cases:
            is_dangerous = case.outcome == "harm" or not dangerous_pairs.isdisjoint(final_pairs(case.episode))
            if is_dangerous and prohibit_dangerous:
                wording = case.principle.anti_pattern(language) or _WITHHELD[language]
                warnings.append((wording, case.principle.principle_id))
                continue
            demoted += is_dangerous
            note = _PAST_FAILURE[language] if is_dangerous else ""
            advisories.append(
                AdvisoryV1_2(
                    advisory_id=f"adv_{len(advisories) + 1:06d}",
                    advisory_type=_type_of(case),
                    message=case.principle.text(language) + _tail(case, language) + note,
                    strength=_strength(case, cases),
                    relevance_score=likeness.relevance(case.episode),
                    evidence=_evidence(case, cases),
                )
            )
        return AdvisoryBuild(
            advisories=tuple(advisories),
            warnings=tuple(wording for wording, _ in warnings),
            blocked_episode_n=sum(case.outcome == "harm" for case in cases) if prohibit_dangerous else 0,
            blocked_advisory_n=len(warnings),
            demoted_advisory_n=demoted,
            dangerous=dangerous_pairs,
            warning_principles=tuple(principle_id for _, principle_id in warnings),
        )

    def _case(self, episode: EpisodicMemoryEntryV1_3) -> _Case:
        """Look the principle up by the outcome that counts now: a verdict may have come after the episode."""
        about, outcome = _risk_key_of(episode), episode.outcome.value
        if about is None:
            known = self._catalogue.get(episode.correction.principle_id)
            return _Case(episode, outcome, known or self._catalogue.general)
        principle = self._catalogue.lookup(about, episode.action_taken, outcome)
        return _Case(episode, outcome, principle)


def fixed_texts_v3() -> Iterable[str]:
    """Yield every text that a message or warning of rules v3 may hold beside the catalogue."""
    for texts in (_PAST_FAILURE, _WITHHELD, _KEPT, _REFUSED, _CHANGED, CASE_MARK):
        yield from texts.values()
    yield from _DONE_EN.values()
    yield from _DONE_KO.values()
    for outcomes in _OUTCOME.values():
        yield from outcomes.values()


def _risk_key_of(episode: EpisodicMemoryEntryV1_3) -> PrincipleRisk | None:
    for condition in episode.correction.applicable_conditions:
        name, _, value = condition.partition("=")
        if name == "risk" and value in _RISKS:
            return value  # type: ignore[return-value]
    return None


def _contradicted_pairs(cases: Iterable[_Case]) -> frozenset[Pair]:
    return frozenset(pair for case in cases if case.outcome == "harm" for pair in final_pairs(case.episode))


def _type_of(case: _Case) -> AdvisoryType:
    if case.outcome == "harm":
        return "failed_override_warning"
    return "successful_override" if case.outcome == "success" else "consistency_anchor"


def _tail(case: _Case, language: Language) -> str:
    """Return what was done in the past case and how it turned out, in brackets."""
    key, done = ("ko" if language == "ko" else "en"), _done(case.episode, language)
    if not done:
        return f"{CASE_MARK[key]}{(_REFUSED if case.episode.changes else _KEPT)[key]}]"
    outcome = _OUTCOME[key][case.outcome]
    if key == "ko":
        return f"{CASE_MARK[key]}{', '.join(done)}, {outcome}]"
    return f"{CASE_MARK[key]}{' and '.join(done)}; {outcome}]"


def _done(episode: EpisodicMemoryEntryV1_3, language: Language) -> list[str]:
    """Return what was changed in the past case, in words; nothing if the first analysis was kept."""
    if episode.changes:
        words = _DONE_KO if language == "ko" else _DONE_EN
        return list(dict.fromkeys(words[change.kind] for change in episode.changes if change.adopted))
    return [_CHANGED["ko" if language == "ko" else "en"]] if is_changed(episode) else []


def _strength(case: _Case, cases: Sequence[_Case]) -> Strength:
    agreeing = _agreeing(case, cases)
    if agreeing >= 3:
        return "strong"
    return "moderate" if agreeing == 2 else "weak"


def _agreeing(case: _Case, cases: Sequence[_Case]) -> int:
    return Counter(other.principle.principle_id for other in cases)[case.principle.principle_id]


def _evidence(case: _Case, cases: Sequence[_Case]) -> EvidenceV1_1:
    before, after = case.episode.evaluation.risk_before.tags, case.episode.evaluation.risk_after.tags
    is_anchor = case.outcome == "neutral"
    deltas = [other.episode.outcome_delta.delta_risk for other in cases]
    return EvidenceV1_1(
        source_episode_ids=(case.episode.episode_id,),
        risk_tags=before,
        principle_id=case.principle.principle_id,
        risk_before_tags=() if is_anchor else before,
        risk_after_tags=() if is_anchor else after,
        stats=anchor_stats(_agreeing(case, cases), deltas) if is_anchor else None,
    )


class OneVoice(NamedTuple):
    """Advisories that agree with each other, and how many were left out for that."""

    advisories: tuple[AdvisoryV1_2, ...]
    repeated_n: int
    """Advisories whose principle a better ranked one has."""
    opposed_n: int
    """Advisories that ask to hold where a better ranked one asks to change, or the other way round."""


def one_voice(advisories: Iterable[AdvisoryV1_2], catalogue: PrincipleCatalogue) -> OneVoice:
    """Return the best ranked advisory of each principle, on the side of the best ranked of all."""
    kept: dict[str, AdvisoryV1_2] = {}
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
