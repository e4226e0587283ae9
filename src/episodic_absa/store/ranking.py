"""Finds the best episodes without a scan of the store.

The closed vocabulary leaves few distinct combinations of what decides a rank (signature, tokens of the summary) and of
what breaks ties (principle, action, outcome). One row of `episode_groups` stands for each; of a group only the newest
episodes can ever be chosen, so the index keeps the newest one of each and asks the database for others.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.store.uids import uid_hash

MAX_TOPK: Final = 3
_TOKEN = re.compile(r"\w{2,}")
_MEMO_SIZE: Final = 1024
EntryT = TypeVar("EntryT", bound=EpisodeDraftV1_3)

Kind = tuple[str, str, str]
"""(principle_id, action_taken, outcome): among episodes of equal rank a kind not yet chosen is preferred."""


class Newest(NamedTuple):
    """The newest episode of a group."""

    number: int
    source: int
    """The hash of its uid."""


NewestOf = Callable[[int, int, int | None], Newest | None]
"""Returns the newest episode of a group below a number; one of a source, given by its hash, does not count."""


class SignatureKey(NamedTuple):
    """The part of a signature by which cases count as similar."""

    language: str
    structures: tuple[str, ...]
    length_bucket: str
    num_aspects: int

    @classmethod
    def of(cls, signature: InputSignatureV1_1) -> "SignatureKey":
        """Return the key of a signature."""
        return cls(signature.language, signature.detected_structure, signature.length_bucket, signature.num_aspects)

    def overlap(self, other: "SignatureKey") -> int:
        """Return the number of shared structure tags, plus 1 each for the same length bucket and aspect count."""
        shared = sum(structure in other.structures for structure in self.structures)
        return shared + (self.length_bucket == other.length_bucket) + (self.num_aspects == other.num_aspects)

    def admits(self, entry: "SignatureKey") -> bool:
        """Return whether an entry shares a structure with this query, or has the tag `none`."""
        return "none" in entry.structures or any(tag in entry.structures for tag in self.structures)


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


class Ranked(NamedTuple):
    """What decides where an episode stands in the results of a search: the content of one group."""

    signature: SignatureKey
    tokens: tuple[str, ...]
    kind: Kind

    @classmethod
    def of(cls, episode: EpisodeDraftV1_3) -> "Ranked":
        """Return what decides the rank of an episode."""
        summary = episode.case_summary
        return cls(
            SignatureKey.of(episode.input_signature),
            tuple(sorted(tokens_of((summary.symptom, summary.rationale_summary)))),
            (episode.correction.principle_id, episode.action_taken, episode.outcome.value),
        )

    @classmethod
    def parse(cls, text: str) -> "Ranked":
        """Return the content of a group from its row."""
        (language, structures, length, aspects), tokens, kind = json.loads(text)
        return cls(SignatureKey(language, tuple(structures), length, aspects), tuple(tokens), tuple(kind))

    def text(self) -> str:
        """Return the text of the row of a group."""
        return canonical_json(self)


def tokens_of(strings: Iterable[str]) -> frozenset[str]:
    """Return the lower-cased runs of two or more letters, digits and underscores."""
    return frozenset(token for string in strings for token in _TOKEN.findall(string.lower()))


@dataclass(slots=True)
class _Member:
    """A group with its newest episode."""

    group: int
    bits: int
    """The tokens of its summary."""
    kind: Kind
    newest: Newest


@dataclass(slots=True)
class _Likes:
    """All groups of one signature."""

    members: list[_Member] = field(default_factory=list)
    memo: dict[int, list[tuple[int, list[_Member]]]] = field(default_factory=dict)
    """Query bits -> members by number of shared tokens, most first. Few queries occur, so the table stays small."""


class RankIndex:
    """Ranks the episodes of one namespace.

    Args:
        newest_of: asks the database for the newest episode of a group below a number, leaving out one source.
    """

    def __init__(self, newest_of: NewestOf) -> None:
        self._newest_of = newest_of
        self._members: dict[int, _Member] = {}
        self._by_signature: dict[SignatureKey, _Likes] = {}
        self._token_bit: dict[str, int] = {}
        self._levels_memo: dict[tuple[SignatureKey, bool, bool], list[list[_Likes]]] = {}

    def __contains__(self, group: int) -> bool:
        return group in self._members

    def add_group(self, group: int, ranked: Ranked, newest: Newest) -> None:
        """Add a group with its newest episode."""
        likes = self._by_signature.get(ranked.signature)
        if likes is None:
            likes = self._by_signature[ranked.signature] = _Likes()
            self._levels_memo.clear()
        bits = 0
        for token in ranked.tokens:
            bits |= self._token_bit.setdefault(token, 1 << len(self._token_bit))
        member = self._members[group] = _Member(group, bits, ranked.kind, newest)
        likes.members.append(member)
        likes.memo.clear()

    def add(self, group: int, newest: Newest) -> None:
        """Add the next episode of a known group."""
        self._members[group].newest = newest

    def search(self, query: Query, first_live: int) -> list[int]:
        """Return the numbers of the best episodes, best first. A full scan of the live ones gives the same.

        Args:
            query: what is wanted.
            first_live: the number of the oldest episode that counts.
        """
        bits = 0
        for token in query.tokens:
            bits |= self._token_bit.get(token, 0)
        choice = _Choice(query, first_live, self._newest_of)
        for level in self._levels(query):
            by_hits: dict[int, list[_Member]] = {}
            for likes in level:
                for hits, members in self._by_shared_tokens(likes, bits):
                    by_hits.setdefault(hits, []).extend(members)
            for hits in sorted(by_hits, reverse=True):
                choice.choose_among_equals(by_hits[hits])
                if len(choice.chosen) == query.topk:
                    return choice.chosen
        return choice.chosen

    def _by_shared_tokens(self, likes: _Likes, query_bits: int) -> list[tuple[int, list[_Member]]]:
        ranked = likes.memo.get(query_bits)
        if ranked is None:
            by_hits: dict[int, list[_Member]] = {}
            for member in likes.members:
                by_hits.setdefault((member.bits & query_bits).bit_count(), []).append(member)
            ranked = sorted(by_hits.items(), reverse=True)
            if len(likes.memo) >= _MEMO_SIZE:
                likes.memo.clear()
            likes.memo[query_bits] = ranked
        return ranked

    def _levels(self, query: Query) -> list[list[_Likes]]:
        """Return the groups that pass the filters by overlap, highest first."""
        key = (query.signature, query.require_same_language, query.require_structure_overlap)
        levels = self._levels_memo.get(key)
        if levels is None:
            by_overlap: dict[int, list[_Likes]] = {}
            for signature, likes in self._by_signature.items():
                if query.require_same_language and signature.language != query.signature.language:
                    continue
                if query.require_structure_overlap and not query.signature.admits(signature):
                    continue
                by_overlap.setdefault(query.signature.overlap(signature), []).append(likes)
            levels = [by_overlap[overlap] for overlap in sorted(by_overlap, reverse=True)]
            if len(self._levels_memo) >= _MEMO_SIZE:
                self._levels_memo.clear()
            self._levels_memo[key] = levels
        return levels


def best_of(episodes: Sequence[EntryT], query: Query) -> list[EntryT]:
    """Return the best of a list of episodes, given oldest first, as a search of a store of them does."""
    numbers: dict[Ranked, list[Newest]] = {}
    for number, episode in enumerate(episodes, start=1):
        newest = Newest(number, uid_hash(episode.provenance.source_id))
        numbers.setdefault(Ranked.of(episode), []).append(newest)
    groups = list(numbers.values())

    def newest_of(group: int, below: int, excluded: int | None) -> Newest | None:
        older = (member for member in reversed(groups[group]) if member.number < below and member.source != excluded)
        return next(older, None)

    index = RankIndex(newest_of)
    for group, ranked in enumerate(numbers):
        index.add_group(group, ranked, groups[group][-1])
    return [episodes[number - 1] for number in index.search(query, 1)]


class _Choice:
    """The episodes chosen so far."""

    def __init__(self, query: Query, first_live: int, newest_of: NewestOf) -> None:
        self.chosen: list[int] = []
        self._kinds: set[Kind] = set()
        self._topk = query.topk
        self._first_live = first_live
        self._newest_of = newest_of
        self._excluded = None if query.exclude_source is None else uid_hash(query.exclude_source)

    def choose_among_equals(self, members: list[_Member]) -> None:
        """Add episodes of equal rank until there are enough: kinds not yet chosen first, then the newest."""
        newest_of_kind: dict[Kind, int] = {}
        group_of: dict[int, _Member] = {}
        for member in members:
            if member.newest.number < self._first_live:
                continue
            number = self._newest_allowed(member)
            if number:
                group_of[number] = member
                newest_of_kind[member.kind] = max(number, newest_of_kind.get(member.kind, 0))
        chosen_here: list[int] = []
        for kind, number in sorted(newest_of_kind.items(), key=lambda item: -item[1]):
            if kind not in self._kinds and len(self.chosen) < self._topk:
                self.chosen.append(number)
                self._kinds.add(kind)
                chosen_here.append(number)
        while len(self.chosen) < self._topk:
            # What was chosen gives its place to the episode before it in its group.
            for number in chosen_here:
                member = group_of.pop(number)
                if older := self._older(member, number):
                    group_of[older] = member
            if not group_of:
                return
            chosen_here = [max(group_of)]
            self.chosen += chosen_here

    def _newest_allowed(self, member: _Member) -> int:
        newest = member.newest
        return newest.number if newest.source != self._excluded else self._older(member, newest.number)

    def _older(self, member: _Member, below: int) -> int:
        """Return the newest live episode of a group below a number that is not excluded; 0 if there is none."""
        older = self._newest_of(member.group, below, self._excluded)
        return older.number if older is not None and older.number >= self._first_live else 0
