"""Builds advisories from retrieved episodes: a principle of the catalogue and the outcome, no label and no text."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from episodic_absa.memory.advice.dangerous_advice import Pair, dangerous_pairs, failed, is_dangerous
from episodic_absa.memory.advice.principles import Principle, PrincipleCatalogue
from episodic_absa.memory.retriever import Likeness
from episodic_absa.schemas.advisory_v1_2 import AnyAdvisory
from episodic_absa.schemas.memory_v1_1 import AdvisoryV1_1, AnchorStatsV1_1, EvidenceV1_1, InputSignatureV1_1
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3
from episodic_absa.vocabulary import AdvisoryType, Language, Strength

OUTCOME_MARK: Final = " [risk: "
"""The beginning of the outcome in a message, just after the principle."""

_PAST_FAILURE: Final = {
    "ko": " [경고: 이 조언과 동일한 aspect·polarity 조합으로 과거 실패/리스크 악화 사례가 있습니다. 증거 확인 권장.]",
    "en": " [Warning: the same aspect-polarity combination failed or raised risk before. Check the evidence.]",
}
_WITHHELD: Final = {
    "ko": "비슷한 사례의 조언 하나를 보류했다. 같은 조합이 실패했거나 위험을 키운 적이 있으니 근거를 다시 확인하라.",
    "en": "Advice from a similar case is withheld: the same combination failed or raised the risk before. "
    "Check the evidence once more.",
}
# The name of this action contains a label word, which no message may contain.
_ACTION_WORDS: Final = {"neutral_fallback": "fallback"}
_CONFLICT_WORDS: Final = {True: "yes", False: "no", None: "n/a"}


class AdvisoryBuild(NamedTuple):
    """Advisories in rank order, warnings, and how many advisories were withheld or demoted."""

    advisories: tuple[AnyAdvisory, ...] = ()
    warnings: tuple[str, ...] = ()
    blocked_episode_n: int = 0
    """Retrieved episodes that failed."""
    blocked_advisory_n: int = 0
    """Retrieved episodes whose advisory was withheld."""
    demoted_advisory_n: int = 0
    """Advisories that carry the note on a past failure."""
    dangerous: frozenset[Pair] = frozenset()
    """The (aspect, polarity) pairs of failed episodes."""
    warning_principles: tuple[str, ...] = ()
    """The principle that each warning comes from."""


class AdvisoryBuilder:
    """Builds one advisory per retrieved episode.

    Example:
        >>> from episodic_absa.memory import SignatureBuilder, load_catalogue
        >>> signature = SignatureBuilder().build("The food was good.", "en", 1)
        >>> AdvisoryBuilder(load_catalogue()).build_from_episodes([], signature).advisories
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
            prohibit_dangerous: True withholds advice whose (aspect, polarity) pair failed before and adds a warning;
                False adds a note on the failure to the message.
        """
        language = query_signature.language
        likeness = Likeness(query_signature, query_tokens)
        pairs = dangerous_pairs(episodes)
        retrieved = _Retrieved(episodes)
        advisories: list[AdvisoryV1_1] = []
        warnings: list[tuple[str, str]] = []
        demoted = 0
        for episode in episodes:
            dangerous = is_dangerous(episode, pairs)
            principle = self._principle_of(episode)
            if dangerous and prohibit_dangerous:
                wording = principle.anti_pattern(language) or _in(language, _WITHHELD)
                warnings.append((wording, principle.principle_id))
                continue
            demoted += dangerous
            advisories.append(
                AdvisoryV1_1(
                    advisory_id=f"adv_{len(advisories) + 1:06d}",
                    advisory_type=_type_of(episode),
                    message=_message(episode, principle, language, dangerous=dangerous),
                    strength=retrieved.strength(episode),
                    relevance_score=likeness.relevance(episode),
                    evidence=_evidence(episode, principle, retrieved),
                )
            )
        return AdvisoryBuild(
            advisories=tuple(advisories),
            warnings=tuple(wording for wording, _ in warnings),
            blocked_episode_n=sum(map(failed, episodes)) if prohibit_dangerous else 0,
            blocked_advisory_n=len(warnings),
            demoted_advisory_n=demoted,
            dangerous=pairs,
            warning_principles=tuple(principle_id for _, principle_id in warnings),
        )

    def _principle_of(self, episode: EpisodicMemoryEntryV1_3) -> Principle:
        # A store may be older than the catalogue. Only the wording of the catalogue is known to be label-free.
        return self._catalogue.get(episode.correction.principle_id) or self._catalogue.general


class _Retrieved:
    """The principles and risk changes of the retrieved episodes."""

    def __init__(self, episodes: Sequence[EpisodicMemoryEntryV1_3]) -> None:
        self._principles = Counter(episode.correction.principle_id for episode in episodes)
        self._deltas = [episode.outcome_delta.delta_risk for episode in episodes]

    def strength(self, episode: EpisodicMemoryEntryV1_3) -> Strength:
        agreeing = self._principles[episode.correction.principle_id]
        if agreeing >= 3:
            return "strong"
        return "moderate" if agreeing == 2 else "weak"

    def stats(self, episode: EpisodicMemoryEntryV1_3) -> AnchorStatsV1_1:
        return anchor_stats(self._principles[episode.correction.principle_id], self._deltas)


def anchor_stats(agreeing: int, deltas: Sequence[int]) -> AnchorStatsV1_1:
    """Return how alike retrieved cases were: how many share a principle, and how far their risk changes differ."""
    return AnchorStatsV1_1(
        historical_count=len(deltas),
        consistency_score=round(agreeing / len(deltas), 6),
        variance=round(_population_variance(deltas), 6),
    )


def _population_variance(values: Sequence[int]) -> float:
    # Exact integers up to one division. statistics.pvariance gives the same with fractions and is slow.
    n = len(values)
    return (n * sum(value * value for value in values) - sum(values) ** 2) / (n * n)


def _type_of(episode: EpisodicMemoryEntryV1_3) -> AdvisoryType:
    if failed(episode):
        return "failed_override_warning"
    if episode.episode_type == "success" and episode.evaluation.override_applied:
        return "successful_override"
    return "consistency_anchor"


def _evidence(episode: EpisodicMemoryEntryV1_3, principle: Principle, retrieved: _Retrieved) -> EvidenceV1_1:
    before, after = episode.evaluation.risk_before.tags, episode.evaluation.risk_after.tags
    is_anchor = _type_of(episode) == "consistency_anchor"
    return EvidenceV1_1(
        source_episode_ids=(episode.episode_id,),
        risk_tags=before,
        principle_id=principle.principle_id,
        risk_before_tags=() if is_anchor else before,
        risk_after_tags=() if is_anchor else after,
        stats=retrieved.stats(episode) if is_anchor else None,
    )


def _message(episode: EpisodicMemoryEntryV1_3, principle: Principle, language: Language, *, dangerous: bool) -> str:
    delta = episode.outcome_delta.delta_risk
    change = "lower" if delta < 0 else "higher" if delta > 0 else "same"
    action = _ACTION_WORDS.get(episode.action_taken, episode.action_taken)
    resolved = _CONFLICT_WORDS[episode.outcome_delta.conflict_resolved]
    outcome = (
        f"{OUTCOME_MARK}{episode.risk_type or 'none'}; action: {action}; risk change: {change}; "
        f"conflict resolved: {resolved}]"
    )
    return principle.text(language) + outcome + (_in(language, _PAST_FAILURE) if dangerous else "")


def _in(language: Language, texts: dict[str, str]) -> str:
    return texts["ko"] if language == "ko" else texts["en"]


def fixed_texts() -> Iterable[str]:
    """Yield every text that a message or warning may contain beside the catalogue; `check` screens them for labels."""
    yield from _PAST_FAILURE.values()
    yield from _WITHHELD.values()
