"""The memory's small API: `recall` before a decision, `remember` after it. It needs no type of this package's task."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self, get_args

from episodic_absa.errors import InputError
from episodic_absa.memory.advice.advisory_builder import OUTCOME_MARK, AdvisoryBuilder
from episodic_absa.memory.advice.label_firewall import LabelFirewall
from episodic_absa.memory.advice.principles import PrincipleCatalogue, load_catalogue
from episodic_absa.memory.episodes.judged_episode import is_changed
from episodic_absa.memory.memory_store import MemoryStore
from episodic_absa.memory.retriever import Retriever
from episodic_absa.memory.situations.situation import (
    Action,
    Outcome,
    Situation,
    risk_ids,
    signature_of,
    situation_episode,
)
from episodic_absa.schemas.memory_v1_2 import AnyAdvisory
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3
from episodic_absa.vocabulary import EpisodeType, Expects, Language

_CASE_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")
_UNNAMED: Final = "agent"
_PAST_CASE: Final = {
    "en": (" [a similar case: the answer was {action}; that turned out {outcome}]", ("changed", "kept")),
    "ko": (" [비슷한 사례: 답을 {action}, 결과는 {outcome}]", ("바꾸었고", "그대로 두었고")),
}
_OUTCOMES: Final[dict[str, dict[EpisodeType, str]]] = {
    "en": {"success": "better", "harm": "worse", "neutral": "unclear"},
    "ko": {"success": "더 나았습니다", "harm": "더 나빴습니다", "neutral": "분명하지 않았습니다"},
}


@dataclass(frozen=True, slots=True)
class Advice:
    """What past cases say about a situation. It is general advice; it never names an answer.

    It is true if there is anything to say.

    Example:
        >>> from episodic_absa import AgentMemory, Situation
        >>> advice = AgentMemory("no_cases_yet.jsonl").recall(Situation(language="en"))
        >>> bool(advice), advice.as_prompt()
        (False, '')
    """

    messages: tuple[str, ...] = ()
    """At most three, the most similar case first, in the language of the situation."""
    warnings: tuple[str, ...] = ()
    """What to avoid: advice of cases that turned out worse is withheld, and this stands in its place."""
    suggests: Literal["change", "hold"] | None = None
    """What the outcome of the most similar case with a clear one speaks for; without one, what the first message asks
    for: a second look (`change`) or restraint (`hold`)."""
    episode_ids: tuple[str, ...] = ()
    """The episodes that were found, the most similar first; `episodic-absa memory show` prints one."""

    def as_prompt(self) -> str:
        """Return messages and warnings as lines for a prompt; "" if there are none."""
        return "\n".join(f"- {line}" for line in (*self.messages, *self.warnings))

    def __bool__(self) -> bool:
        return bool(self.messages or self.warnings)


class AgentMemory:
    """Remembers in a store what an agent did in which situation, and gives advice from it.

    The store has the format that runs and `Analyzer` use, so `episodic-absa memory` reads it, too. It holds no text and
    no answer: a situation consists of closed words only.

    Args:
        store: the file, or an address `postgresql://...`. It is created by the first `remember`.
        topk: the most past cases that give advice, 1 to 3.

    Raises:
        ConfigError: `topk` is not 1, 2 or 3.
        InputError: `store` is no path.
        MemoryStoreError: the store cannot be read or written safely.

    Example:
        >>> from episodic_absa import AgentMemory, Situation
        >>> situation = Situation(language="en", structures={"contrast"}, risks={"contrast_scope"})
        >>> with AgentMemory("cases.jsonl") as memory:
        ...     _ = memory.remember(situation, action="changed", outcome="better")
        ...     advice = memory.recall(situation)
        >>> advice.suggests, len(advice.messages)
        ('change', 1)
    """

    def __init__(self, store: str | Path, *, topk: int = 3) -> None:
        self._catalogue: PrincipleCatalogue = load_catalogue()
        self._retriever = Retriever(topk=topk)
        self._advisories = AdvisoryBuilder(self._catalogue)
        self._firewall = LabelFirewall()
        self._store = MemoryStore(store)

    def recall(self, situation: Situation, *, case_id: str | None = None) -> Advice:
        """Return the advice of the most similar past cases. Call it before the decision.

        Args:
            situation: what is about to be judged.
            case_id: names the case; what was remembered under the same name is left out.

        Raises:
            MemoryStoreError: the store cannot be read.
        """
        signature = signature_of(_checked(situation))
        risks = risk_ids(situation)
        episodes = self._retriever.retrieve(self._store.load(), signature, risks, sample_id=_checked_id(case_id))
        build = self._advisories.build_from_episodes(
            episodes, signature, query_tokens=self._retriever.lexical_tokens(risks), prohibit_dangerous=True
        )
        screened = self._firewall.screen(build, ())
        by_id = {episode.episode_id: episode for episode in episodes}
        messages = tuple(
            _message(advisory.message, by_id[advisory.evidence.source_episode_ids[0]], situation.language)
            for advisory in screened.advisories
        )
        return Advice(
            messages=tuple(dict.fromkeys(messages)),
            warnings=tuple(dict.fromkeys(screened.warnings)),
            suggests=_proven(episodes) or self._expected(screened.advisories),
            episode_ids=tuple(by_id),
        )

    def remember(self, situation: Situation, action: Action, outcome: Outcome, *, case_id: str | None = None) -> str:
        """Store a case and return the id of its episode once it is on disk. Call it after the decision.

        Args:
            situation: what was judged.
            action: what the agent did with its first answer: `kept` or `changed`.
            outcome: how that turned out: `better`, `worse` or `unclear`.
            case_id: names the case: letters, digits and `_ . : -`, at most 64.

        Raises:
            InputError: a word is unknown, or the name of the case is none.
            MemoryStoreError: the case could not be written. The store is unchanged.
        """
        _check_word("action", action, get_args(Action))
        _check_word("outcome", outcome, get_args(Outcome))
        source = _checked_id(case_id) or _UNNAMED
        draft = situation_episode(_checked(situation), action, outcome, source, self._catalogue)
        return self._store.append(draft).episode_id

    def __repr__(self) -> str:
        return f"AgentMemory({self._store.name})"

    def close(self) -> None:
        """Close the store. A second call does nothing."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _expected(self, advisories: Sequence[AnyAdvisory]) -> Expects | None:
        """Return what the principle of the first message asks for."""
        principle = self._catalogue.get(advisories[0].evidence.principle_id) if advisories else None
        return principle.expects if principle is not None else None


def _proven(episodes: Sequence[EpisodicMemoryEntryV1_3]) -> Literal["change", "hold"] | None:
    """Return what the most similar case with a clear outcome speaks for."""
    for episode in episodes:
        if episode.episode_type in ("success", "harm"):
            return "change" if is_changed(episode) == (episode.episode_type == "success") else "hold"
    return None


def _message(message: str, episode: EpisodicMemoryEntryV1_3, language: Language) -> str:
    """Return an advisory's principle with what became of the case, in plain words."""
    principle, _, _ = message.partition(OUTCOME_MARK)
    spoken = "ko" if language == "ko" else "en"
    past_case, (changed, kept) = _PAST_CASE[spoken]
    action = changed if is_changed(episode) else kept
    return principle + past_case.format(action=action, outcome=_OUTCOMES[spoken][episode.episode_type])


def _checked(situation: Any) -> Situation:
    if not isinstance(situation, Situation):
        raise InputError(
            f"situation must be a Situation, got {type(situation).__name__}; write Situation(language=...) or "
            "Situation.of_text(...)",
            argument="situation",
        )
    return situation


def _check_word(argument: str, word: object, known: tuple[str, ...]) -> None:
    if word not in known:
        raise InputError(f"unknown {argument}; choose from: {', '.join(known)}", argument=argument)


def _checked_id(case_id: object) -> str | None:
    if case_id is None:
        return None
    if not isinstance(case_id, str) or not _CASE_ID.fullmatch(case_id):
        raise InputError(
            "case_id must be a short name of letters, digits and _ . : - (at most 64); it is stored, so give no text",
            argument="case_id",
        )
    return case_id
