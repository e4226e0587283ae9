"""Finds the best episodes without a scan of the store.

The closed vocabulary leaves few distinct keys, so episodes are grouped by everything that decides their rank
(signature, tokens of the summary) and by what breaks ties (principle, action, outcome). Only the newest few of a
group can ever be chosen; the index keeps those and drops the rest, however large the store is.
"""

import re
from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from episodic_absa.memory.retrieval.experience_counts import ExperienceCounts
from episodic_absa.memory.retrieval.familiarity_counts import FamiliarityCounts
from episodic_absa.memory.retrieval.signature_key import SignatureKey
from episodic_absa.schemas.memory_v1_2 import AnyDraft, AnyEpisode
from episodic_absa.vocabulary import RiskId, Structure

MAX_TOPK: Final = 3
NOVELTY_WINDOW: Final = 200
_TOKEN = re.compile(r"\w{2,}")
_LEXICAL_MEMO_SIZE: Final = 128
_LEVELS_MEMO_SIZE: Final = 1024

Kind = tuple[str, str, str]
"""(principle_id, action_taken, episode_type): among episodes of equal rank a kind not yet chosen is preferred."""
NoveltyKey = tuple[str, tuple[Structure, ...], tuple[RiskId, ...], str]
_Newest = list[tuple[int, str]]
"""(ordinal, source_id) of the newest episodes of one group, oldest first."""


def tokens_of(strings: Iterable[str]) -> frozenset[str]:
    """Return the lower-cased runs of two or more letters, digits and underscores."""
    return frozenset(token for string in strings for token in _TOKEN.findall(string.lower()))


class Query(NamedTuple):
    """A search: the signature and tokens to compare, and the filters."""

    signature: SignatureKey
    tokens: frozenset[str]
    """If empty, the lexical score of every episode is 0."""
    exclude_source: str | None
    """The uid of a sample whose episodes are not returned."""
    topk: int
    require_same_language: bool
    require_structure_overlap: bool


def novelty_key(draft: AnyDraft) -> NoveltyKey:
    """Return the key by which an episode counts as new: language, structures, risks before and symptom."""
    signature = draft.input_signature
    return (
        signature.language,
        signature.detected_structure,
        draft.evaluation.risk_before.tags,
        draft.case_summary.symptom,
    )


@dataclass(slots=True)
class _Group:
    """All episodes of one signature."""

    by_tokens: dict[int, dict[Kind, _Newest]] = field(default_factory=dict)
    """Token set (as bits) -> kind -> newest."""
    regardless_of_tokens: dict[Kind, _Newest] = field(default_factory=dict)
    lexical_memo: dict[int, list[tuple[int, list[dict[Kind, _Newest]]]]] = field(default_factory=dict)
    """Query bits -> token sets by number of shared tokens. Few queries occur, so the table stays small."""

    def ranked_by(self, query_bits: int) -> list[tuple[int, list[dict[Kind, _Newest]]]]:
        if not query_bits:
            return [(0, [self.regardless_of_tokens])]
        ranked = self.lexical_memo.get(query_bits)
        if ranked is None:
            hits: dict[int, list[dict[Kind, _Newest]]] = {}
            for bits, kinds in self.by_tokens.items():
                hits.setdefault((bits & query_bits).bit_count(), []).append(kinds)
            ranked = sorted(hits.items(), reverse=True, key=lambda item: item[0])
            if len(self.lexical_memo) >= _LEXICAL_MEMO_SIZE:
                self.lexical_memo.clear()
            self.lexical_memo[query_bits] = ranked
        return ranked


class EpisodeIndex:
    """Finds episodes by query and returns their ordinals. Only the last `keep_last_n` episodes are found."""

    def __init__(self, keep_last_n: int) -> None:
        self.keep_last_n = keep_last_n
        self.count = 0
        """The number of episodes added so far, which is the ordinal of the next one."""
        self.experience = ExperienceCounts()
        """How proposed changes turned out, over all episodes added so far, pruned ones included."""
        self.familiarity = FamiliarityCounts()
        """How often terms were final targets, over all tallies of the store."""
        self._groups: dict[SignatureKey, _Group] = {}
        self._token_bit: dict[str, int] = {}
        self._bits_of_summary: dict[tuple[str, str], int] = {}
        self._levels_memo: dict[tuple[SignatureKey, bool, bool], list[list[_Group]]] = {}
        self._by_language: dict[str, array[int]] = {}
        self._recent: deque[NoveltyKey] = deque(maxlen=min(NOVELTY_WINDOW, keep_last_n))

    @property
    def first_live(self) -> int:
        """The ordinal of the oldest episode that is not pruned."""
        return max(0, self.count - self.keep_last_n)

    def is_novel(self, draft: AnyDraft) -> bool:
        """Return whether none of the last 200 episodes has the same novelty key."""
        return novelty_key(draft) not in self._recent

    def add(self, entry: AnyDraft) -> None:
        """Add the next episode in store order."""
        signature = SignatureKey.of(entry.input_signature)
        group = self._groups.get(signature)
        if group is None:
            group = self._groups[signature] = _Group()
            self._levels_memo.clear()
        bits = self._summary_bits(entry)
        kinds = group.by_tokens.get(bits)
        if kinds is None:
            kinds = group.by_tokens[bits] = {}
            group.lexical_memo.clear()
        kind = (entry.correction.principle_id, entry.action_taken, entry.episode_type)
        newest = (self.count, entry.provenance.source_id)
        for held_by_kind in (kinds, group.regardless_of_tokens):
            held = held_by_kind.get(kind)
            if held is None:
                held_by_kind[kind] = [newest]
            else:
                _push(held, newest)
        self._by_language.setdefault(signature.language, array("Q")).append(self.count)
        self._recent.append(novelty_key(entry))
        self.experience.add(entry)
        self.count += 1
        # One sweep per window limits the groups to those of two windows.
        if self.count % self.keep_last_n == 0:
            self._sweep()

    def live_in(self, language: str) -> Sequence[int]:
        """Return the ordinals of the live episodes in a language, oldest first."""
        ordinals = self._by_language.get(language, array("Q"))
        if ordinals and ordinals[0] < self.first_live:
            del ordinals[: bisect_left(ordinals, self.first_live)]
        return ordinals

    def search(self, query: Query) -> list[int]:
        """Return the ordinals of the best episodes, best first. A full scan gives the same."""
        bits = 0
        for token in query.tokens:
            bits |= self._token_bit.get(token, 0)
        chosen: list[int] = []
        kinds_chosen: set[Kind] = set()
        for level in self._levels(query):
            by_hits: dict[int, list[dict[Kind, _Newest]]] = {}
            for group in level:
                for hits, token_sets in group.ranked_by(bits):
                    by_hits.setdefault(hits, []).extend(token_sets)
            for hits in sorted(by_hits, reverse=True):
                self._choose_among_equals(by_hits[hits], query, chosen, kinds_chosen)
                if len(chosen) == query.topk:
                    return chosen
        return chosen

    def _levels(self, query: Query) -> list[list[_Group]]:
        """Return the groups that pass the filters by overlap, highest first."""
        key = (query.signature, query.require_same_language, query.require_structure_overlap)
        levels = self._levels_memo.get(key)
        if levels is None:
            by_overlap: dict[int, list[_Group]] = {}
            for signature, group in self._groups.items():
                if query.require_same_language and signature.language != query.signature.language:
                    continue
                if query.require_structure_overlap and not query.signature.admits(signature):
                    continue
                by_overlap.setdefault(query.signature.overlap(signature), []).append(group)
            levels = [by_overlap[overlap] for overlap in sorted(by_overlap, reverse=True)]
            if len(self._levels_memo) >= _LEVELS_MEMO_SIZE:
                self._levels_memo.clear()
            self._levels_memo[key] = levels
        return levels

    def _choose_among_equals(
        self,
        token_sets: list[dict[Kind, _Newest]],
        query: Query,
        chosen: list[int],
        kinds_chosen: set[Kind],
    ) -> None:
        """Add episodes of equal rank to `chosen`: kinds not yet chosen first, then the newest."""
        first_live = self.first_live
        candidates: dict[Kind, list[int]] = {}
        for kinds in token_sets:
            for kind, newest in kinds.items():
                live = [
                    ordinal for ordinal, source in newest if ordinal >= first_live and source != query.exclude_source
                ]
                if live:
                    candidates.setdefault(kind, []).extend(live)
        for ordinals in candidates.values():
            ordinals.sort()
        while candidates and len(chosen) < query.topk:
            fresh = [kind for kind in candidates if kind not in kinds_chosen]
            kind = max(fresh or candidates, key=lambda kind: candidates[kind][-1])
            chosen.append(candidates[kind].pop())
            kinds_chosen.add(kind)
            if not candidates[kind]:
                del candidates[kind]

    def _summary_bits(self, entry: AnyDraft) -> int:
        summary = (entry.case_summary.symptom, entry.case_summary.rationale_summary)
        bits = self._bits_of_summary.get(summary)
        if bits is None:
            bits = 0
            for token in tokens_of(summary):
                bits |= self._token_bit.setdefault(token, 1 << len(self._token_bit))
            self._bits_of_summary[summary] = bits
        return bits

    def _sweep(self) -> None:
        """Remove the groups whose newest episode is pruned."""
        for signature, group in list(self._groups.items()):
            for bits, kinds in list(group.by_tokens.items()):
                _drop_pruned(kinds, self.first_live)
                if not kinds:
                    del group.by_tokens[bits]
            _drop_pruned(group.regardless_of_tokens, self.first_live)
            group.lexical_memo.clear()
            if not group.by_tokens:
                del self._groups[signature]
        self._levels_memo.clear()
        self._bits_of_summary.clear()


class IndexedEpisodes(ABC):
    """Episodes together with an index over them."""

    @property
    @abstractmethod
    def episode_index(self) -> EpisodeIndex:
        """The index over the episodes."""

    @abstractmethod
    def at(self, ordinal: int) -> AnyEpisode:
        """Return the episode with that ordinal."""


def _push(newest: _Newest, item: tuple[int, str]) -> None:
    """Add an episode and keep those that a search can still choose.

    A search excludes at most one source and needs at most three episodes. Three episodes of a source make its older
    ones unreachable, and among seven at least three belong to other sources.
    """
    newest.append(item)
    length = len(newest)
    if length <= MAX_TOPK:
        return
    source = item[1]
    if [held[1] for held in newest].count(source) > MAX_TOPK:
        newest.remove(next(held for held in newest if held[1] == source))
    elif length > 2 * MAX_TOPK:
        del newest[0]


def _drop_pruned(kinds: dict[Kind, _Newest], first_live: int) -> None:
    for kind, newest in list(kinds.items()):
        if newest[-1][0] < first_live:
            del kinds[kind]
