"""Decides what an English opinion is said of: modified noun, object, subject, or the topic of the sentence."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from episodic_absa.backends.embedded.english.english_opinion_words import EnglishHit
from episodic_absa.backends.embedded.english.english_phrases import EnglishPhrase, are_joined
from episodic_absa.backends.embedded.english.english_relatives import RelativeClause
from episodic_absa.backends.embedded.english.english_tokens import EnglishTokens
from episodic_absa.backends.embedded.reading import Clause

_FELT: Final = frozenset(
    {"happy", "unhappy", "pleased", "impressed", "disappointed", "satisfied", "dissatisfied", "delighted", "thrilled",
     "chuffed", "glad", "annoyed", "frustrated", "unimpressed", "obsessed", "amazed", "fascinated", "bored", "upset",
     "angry", "blown away", "furious", "surprised", "shocked", "overwhelmed", "underwhelmed", "charmed"}
)  # fmt: skip
"""What a person feels: the target is what they feel it about."""
_FELT_ABOUT: Final = ("with", "by", "about", "at", "in", "of")
_SAYS_WHAT_IT_IS: Final = frozenset(
    {"product", "products", "item", "purchase", "choice", "option", "buy", "addition", "solution", "alternative",
     "gift", "present", "investment", "company", "example", "match", "size", "touch", "start", "upgrade", "version"}
)  # fmt: skip
"""Nouns that only say what the subject is: the balm is a great product."""
_WRITERS: Final = frozenset({"i", "we", "you", "there"})


class ClauseFinder(NamedTuple):
    """The phrases of a text, to ask for the owners of one opinion after another."""

    tokens: EnglishTokens
    phrases: Sequence[EnglishPhrase]
    in_clause: dict[int, list[int]]
    clauses: Sequence[Clause]
    relatives: Sequence[RelativeClause]

    def owners(self, hit: EnglishHit, clause: int) -> tuple[int, ...]:
        """Return what an opinion is said of in its own clause."""
        hidden = self._hidden(hit)
        candidates = [index for index in self.in_clause.get(clause, []) if index not in hidden]
        after = [index for index in candidates if self.phrases[index].first > hit.last]
        before = [index for index in candidates if self.phrases[index].last < hit.first and self._is_nameable(index)]
        nameable = [index for index in after if self._is_nameable(index)]
        return (
            self._judged_object(hit, before, nameable)
            or self._modified(hit, before, after, nameable)
            or self._felt_about(hit, nameable)
            or self._subject(before)
            or self._topic(before, nameable)
        )

    def missed(self, hit: EnglishHit, clause: int) -> tuple[int, ...]:
        """Return what is said to be missing, where nothing else is named: no pictures at all."""
        return self._direct_object(hit, [index for index in self.in_clause.get(clause, ()) if self._is_nameable(index)])

    def inherited(self, hit: EnglishHit, clause: int, active: tuple[int, ...], active_clause: int) -> tuple[int, ...]:
        """Take over what the sentence was about, unless the clause speaks of the writer."""
        where = self.clauses[clause]
        speaks_of_writer = any(
            self.tokens.form(at) in _WRITERS
            for at in range(max(0, hit.first - 4), hit.first)
            if self.tokens.items[at].start >= where.start
        )
        if speaks_of_writer:
            return ()
        if active and self.clauses[active_clause].sentence == where.sentence:
            return active
        previous = clause - 1
        if previous >= 0 and self.clauses[previous].sentence == where.sentence:
            named = [
                index
                for index in self.in_clause.get(previous, ())
                if self._is_nameable(index) and self.phrases[index].target.case != "oblique"
            ]
            return tuple(named[:1])
        return ()

    def _is_nameable(self, index: int) -> bool:
        return self.phrases[index].target.is_nameable

    def _hidden(self, hit: EnglishHit) -> set[int]:
        """Return the phrases inside a relative clause that ended before the opinion."""
        return {
            index
            for relative in self.relatives
            if relative.main_verb is not None and relative.main_verb <= hit.first
            for index, phrase in enumerate(self.phrases)
            if relative.first <= phrase.first < relative.main_verb
        }

    def _judged_object(self, hit: EnglishHit, before: Sequence[int], nameable: Sequence[int]) -> tuple[int, ...]:
        """Return the object of a verb or idiom that judges one."""
        idiom = hit.idiom
        if idiom is not None and idiom.event:
            return self._subject(before) or self._direct_object(hit, nameable)
        if hit.is_absence:
            is_there = "there" in (self.tokens.form(hit.first - 2), self.tokens.form(hit.first - 1))
            return self._direct_object(hit, nameable) if is_there else self._subject(before)
        if nameable and (hit.is_object_verb or (idiom is not None and idiom.object)):
            return self._with_joined(nameable, nameable[0])
        return ()

    def _direct_object(self, hit: EnglishHit, nameable: Sequence[int]) -> tuple[int, ...]:
        after = [index for index in nameable if self.phrases[index].first > hit.last]
        if after and self.phrases[after[0]].modifiers_from <= hit.last + 1:
            return self._with_joined(after, after[0])
        return ()

    def _modified(
        self, hit: EnglishHit, before: Sequence[int], after: Sequence[int], nameable: Sequence[int]
    ) -> tuple[int, ...]:
        """Return the noun that an adjective stands before."""
        if hit.idiom is not None or hit.is_object_verb or hit.is_absence or not after:
            return ()
        if self.tokens.tag(hit.last) == "V":
            return ()
        head = after[0]
        phrase = self.phrases[head]
        if phrase.modifiers_from > hit.first or not self._is_nameable(head):
            return ()
        if self.tokens.forms[phrase.last] in _SAYS_WHAT_IT_IS and phrase.target.case == "bare":
            subject = self._subject(before)
            if subject:
                return subject
        return self._with_joined(nameable, head, only_bare=True)

    def _felt_about(self, hit: EnglishHit, nameable: Sequence[int]) -> tuple[int, ...]:
        if hit.form not in _FELT:
            return ()
        about = [index for index in nameable if self.phrases[index].after_preposition in _FELT_ABOUT]
        return self._with_joined(nameable, about[0]) if about else ()

    def _subject(self, before: Sequence[int]) -> tuple[int, ...]:
        own = [index for index in before if self.phrases[index].target.case != "oblique" or self._is_counted(index)]
        if not own:
            return ()
        # The subject comes first; what stands between it and the opinion is an object or a place.
        subjects = [index for index in own if self.phrases[index].target.case in ("subject", "bare")] or own
        return self._with_earlier(own, subjects[-1])

    def _topic(self, before: Sequence[int], nameable: Sequence[int]) -> tuple[int, ...]:
        about = [index for index in nameable if self.phrases[index].after_preposition in ("about", "with", "of")]
        if about:
            return (about[0],)
        # Nothing about the room was clean: with no subject to name, the place or topic it is said of.
        return tuple(before[-1:])

    def _is_counted(self, index: int) -> bool:
        """Return whether the phrase counts a noun: "two of the glasses" is about glasses."""
        phrase = self.phrases[index]
        before = phrase.modifiers_from - 2
        return phrase.after_preposition == "of" and (
            self.tokens.tag(before) in ("#", "D")
            or self.tokens.form(before)
            in ("two", "three", "four", "one", "lot", "none", "couple", "half", "most", "rest")
        )

    def _with_joined(self, candidates: Sequence[int], owner: int, *, only_bare: bool = False) -> tuple[int, ...]:
        """Add what "and" joins to the owner: love the food and the wine; but not great food and friendly staff."""
        joined = [owner]
        for index in candidates[candidates.index(owner) + 1 :]:
            phrase = self.phrases[index]
            has_own_modifier = phrase.modifiers_from < phrase.first
            if not are_joined(self.tokens, self.phrases[joined[-1]], phrase) or (only_bare and has_own_modifier):
                break
            joined.append(index)
        return tuple(joined)

    def _with_earlier(self, candidates: Sequence[int], owner: int) -> tuple[int, ...]:
        joined = [owner]
        position = candidates.index(owner)
        while position > 0:
            earlier = self.phrases[candidates[position - 1]]
            if not are_joined(self.tokens, earlier, self.phrases[joined[0]]):
                break
            position -= 1
            joined.insert(0, candidates[position])
        return tuple(joined)
