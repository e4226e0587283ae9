"""Builds advisories from retrieved episodes: a principle of the catalogue and the outcome, no label and no text.

How advice speaks of past cases is a `Voice`: of risks under the original rules, of outcomes under v3.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from episodic_absa.memory.advice.dangerous_advice import dangerous_pairs, failed, final_pairs
from episodic_absa.memory.advice.principles import Principle, PrincipleCatalogue
from episodic_absa.memory.retriever import relevance
from episodic_absa.schemas.memory_v1_1 import AdvisoryV1_1, AnchorStatsV1_1, EvidenceV1_1, InputSignatureV1_1
from episodic_absa.schemas.memory_v1_2 import AdvisoryV1_2, AnyAdvisory
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3
from episodic_absa.vocabulary import AdvisoryType, Strength

OUTCOME_MARK: Final = " [risk: "
"""The beginning of the outcome in a message, just after the principle."""

Spoken = Literal["ko", "en"]
"""The languages that advice speaks: Korean for Korean, else English."""


@dataclass(frozen=True)
class Voice:
    """How advice speaks of past cases."""

    schema: type[AdvisoryV1_1] | type[AdvisoryV1_2]
    principle_of: Callable[[PrincipleCatalogue, EpisodicMemoryEntryV1_3], Principle]
    """The principle that answers a past case."""
    has_failed: Callable[[EpisodicMemoryEntryV1_3], bool]
    has_succeeded: Callable[[EpisodicMemoryEntryV1_3], bool]
    past_case: Callable[[EpisodicMemoryEntryV1_3, Spoken], str]
    """What was done in a past case and how it turned out, in brackets."""
    past_failure: Mapping[Spoken, str]
    """The note on advice that failed before and is shown."""
    withheld: Mapping[Spoken, str]
    """The warning in place of advice that failed before, if its principle has no anti-pattern."""

    def type_of(self, episode: EpisodicMemoryEntryV1_3) -> AdvisoryType:
        """Return what the advice of a past case is."""
        if self.has_failed(episode):
            return "failed_override_warning"
        return "successful_override" if self.has_succeeded(episode) else "consistency_anchor"


_PAST_FAILURE: Final[dict[Spoken, str]] = {
    "ko": " [경고: 이 조언과 동일한 aspect·polarity 조합으로 과거 실패/리스크 악화 사례가 있습니다. 증거 확인 권장.]",
    "en": " [Warning: the same aspect-polarity combination failed or raised risk before. Check the evidence.]",
}
_WITHHELD: Final[dict[Spoken, str]] = {
    "ko": "비슷한 사례의 조언 하나를 보류했다. 같은 조합이 실패했거나 위험을 키운 적이 있으니 근거를 다시 확인하라.",
    "en": "Advice from a similar case is withheld: the same combination failed or raised the risk before. "
    "Check the evidence once more.",
}
# The name of this action contains a label word, which no message may contain.
_ACTION_WORDS: Final = {"neutral_fallback": "fallback"}
_CONFLICT_WORDS: Final = {True: "yes", False: "no", None: "n/a"}


def _past_case(episode: EpisodicMemoryEntryV1_3, language: Spoken) -> str:  # noqa: ARG001 - English in any language
    delta = episode.outcome_delta.delta_risk
    change = "lower" if delta < 0 else "higher" if delta > 0 else "same"
    action = _ACTION_WORDS.get(episode.action_taken, episode.action_taken)
    resolved = _CONFLICT_WORDS[episode.outcome_delta.conflict_resolved]
    return (
        f"{OUTCOME_MARK}{episode.risk_type or 'none'}; action: {action}; risk change: {change}; "
        f"conflict resolved: {resolved}]"
    )


RISK_VOICE: Final = Voice(
    schema=AdvisoryV1_1,
    # A store may be older than the catalogue. Only the wording of the catalogue is known to be label-free.
    principle_of=lambda catalogue, episode: catalogue.get(episode.correction.principle_id) or catalogue.general,
    has_failed=failed,
    has_succeeded=lambda episode: episode.episode_type == "success" and episode.evaluation.override_applied,
    past_case=_past_case,
    past_failure=_PAST_FAILURE,
    withheld=_WITHHELD,
)
"""Speaks of risks and overrides, as the original rules do."""


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
    warning_principles: tuple[str, ...] = ()
    """The principle that each warning comes from."""


class AdvisoryBuilder:
    """Builds one advisory per retrieved episode.

    Args:
        catalogue: the principles.
        voice: how advice speaks of past cases.

    Example:
        >>> from episodic_absa.memory import SignatureBuilder, load_catalogue
        >>> signature = SignatureBuilder().build("The food was good.", "en", 1)
        >>> AdvisoryBuilder(load_catalogue()).build_from_episodes([], signature).advisories
        ()
    """

    def __init__(self, catalogue: PrincipleCatalogue, voice: Voice = RISK_VOICE) -> None:
        self._catalogue = catalogue
        self._voice = voice

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
        voice = self._voice
        language: Spoken = "ko" if query_signature.language == "ko" else "en"
        pairs = dangerous_pairs(episodes, voice.has_failed)
        principles = [voice.principle_of(self._catalogue, episode) for episode in episodes]
        retrieved = _Retrieved(episodes, principles)
        advisories: list[AnyAdvisory] = []
        warnings: list[tuple[str, str]] = []
        demoted = 0
        for episode, principle in zip(episodes, principles, strict=True):
            is_dangerous = voice.has_failed(episode) or not pairs.isdisjoint(final_pairs(episode))
            if is_dangerous and prohibit_dangerous:
                warnings.append((principle.anti_pattern(language) or voice.withheld[language], principle.principle_id))
                continue
            demoted += is_dangerous
            note = voice.past_failure[language] if is_dangerous else ""
            advisory_type = voice.type_of(episode)
            advisories.append(
                voice.schema(
                    advisory_id=f"adv_{len(advisories) + 1:06d}",
                    advisory_type=advisory_type,
                    message=principle.text(language) + voice.past_case(episode, language) + note,
                    strength=retrieved.strength(principle),
                    relevance_score=relevance(query_signature, query_tokens, episode),
                    evidence=retrieved.evidence(episode, principle, is_anchor=advisory_type == "consistency_anchor"),
                )
            )
        return AdvisoryBuild(
            advisories=tuple(advisories),
            warnings=tuple(wording for wording, _ in warnings),
            blocked_episode_n=sum(map(voice.has_failed, episodes)) if prohibit_dangerous else 0,
            blocked_advisory_n=len(warnings),
            demoted_advisory_n=demoted,
            warning_principles=tuple(principle_id for _, principle_id in warnings),
        )


class _Retrieved:
    """The principles and risk changes of the retrieved episodes."""

    def __init__(self, episodes: Sequence[EpisodicMemoryEntryV1_3], principles: Sequence[Principle]) -> None:
        self._agreeing = Counter(principle.principle_id for principle in principles)
        self._deltas = [episode.outcome_delta.delta_risk for episode in episodes]

    def strength(self, principle: Principle) -> Strength:
        """Return how many of the episodes share a principle, as a word."""
        agreeing = self._agreeing[principle.principle_id]
        return "strong" if agreeing >= 3 else "moderate" if agreeing == 2 else "weak"

    def evidence(self, episode: EpisodicMemoryEntryV1_3, principle: Principle, *, is_anchor: bool) -> EvidenceV1_1:
        """Return where an advisory comes from; an anchor says how alike the cases are, the others what changed."""
        before, after = episode.evaluation.risk_before.tags, episode.evaluation.risk_after.tags
        return EvidenceV1_1(
            source_episode_ids=(episode.episode_id,),
            risk_tags=before,
            principle_id=principle.principle_id,
            risk_before_tags=() if is_anchor else before,
            risk_after_tags=() if is_anchor else after,
            stats=self._stats(principle) if is_anchor else None,
        )

    def _stats(self, principle: Principle) -> AnchorStatsV1_1:
        n, deltas = len(self._deltas), self._deltas
        return AnchorStatsV1_1(
            historical_count=n,
            consistency_score=round(self._agreeing[principle.principle_id] / n, 6),
            # The population variance: exact integers up to one division. statistics.pvariance is slow.
            variance=round((n * sum(delta * delta for delta in deltas) - sum(deltas) ** 2) / (n * n), 6),
        )
