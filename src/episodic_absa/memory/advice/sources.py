"""Where the advice of a condition comes from: one seam for retrieved advice and for every control of it.

A source sees what retrieval found and offers advisories and warnings. Nothing else differs between the arms of an
experiment: retrieval always runs, and gates, slots and storage know nothing of the source.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, NamedTuple, Protocol

from episodic_absa.memory.advice.advisory_builder import AdvisoryBuild, AdvisoryBuilder
from episodic_absa.memory.advice.chance import coin_value, drawn_places
from episodic_absa.memory.advice.label_firewall import LabelFirewall, Screened
from episodic_absa.memory.advice.outcome_advice import one_voice
from episodic_absa.memory.advice.placebo import placebo_advisories
from episodic_absa.memory.advice.principles import Principle, PrincipleCatalogue
from episodic_absa.memory.memory_store import StoredEpisodes
from episodic_absa.memory.retriever import Retriever
from episodic_absa.schemas.advisory_v1_2 import AdvisoryV1_2, AnyAdvisory, AnyBundle
from episodic_absa.schemas.memory_v1_1 import AdvisoryV1_1, EvidenceV1_1, InputSignatureV1_1
from episodic_absa.schemas.run import Coin
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3
from episodic_absa.store.uids import stored_uid
from episodic_absa.vocabulary import Language

Episodes = Sequence[EpisodicMemoryEntryV1_3]
_NO_ADVICE: Final = AdvisoryBuild()


class AdviceMoment(NamedTuple):
    """What a source may know of a sample at its turn. The text is not part of it."""

    uid: str
    signature: InputSignatureV1_1
    query: tuple[str, ...]
    """The risk ids and proposal types of Stage1."""
    terms: tuple[str, ...]
    """The aspects of Stage1, which no advice may name."""
    retrieved: Episodes
    """What retrieval found in the store of the condition."""
    store: StoredEpisodes
    """That store as it is at the turn of the sample."""


@dataclass(frozen=True)
class Offer:
    """The advice that a sample is offered, and how it came about."""

    advisories: tuple[AnyAdvisory, ...] = ()
    warnings: tuple[str, ...] = ()
    warning_principles: tuple[str, ...] = ()
    """The principle that each warning comes from."""
    episodes: Episodes = ()
    """The episodes that the advice was made of."""
    build: AdvisoryBuild = _NO_ADVICE
    """Counts of blocked and demoted advice."""
    firewall_dropped_n: int = 0
    coins: tuple[Coin, ...] = ()
    matched_chars: int = 0
    """For a placebo: the characters that it stands in for."""
    repeated_advisory_n: int = 0
    """Under rules v3: advisories left out because a better ranked one has the same principle."""
    opposed_advisory_n: int = 0
    """Under rules v3: advisories left out because a better ranked one asks for the opposite."""

    @property
    def principles(self) -> tuple[str, ...]:
        """The principles of the advisories and warnings, each once."""
        of_advisories = (advisory.evidence.principle_id for advisory in self.advisories)
        return tuple(dict.fromkeys((*of_advisories, *self.warning_principles)))

    def without(self, principles: Collection[str]) -> "Offer":
        """Return the offer without the advice of some principles; the advisories that stay are numbered anew."""
        if not any(principle_id in principles for principle_id in self.principles):
            return self
        stay = [advisory for advisory in self.advisories if advisory.evidence.principle_id not in principles]
        warnings = [
            (warning, principle_id)
            for warning, principle_id in zip(self.warnings, self.warning_principles, strict=True)
            if principle_id not in principles
        ]
        return replace(
            self,
            advisories=tuple(
                advisory.model_copy(update={"advisory_id": f"adv_{rank:06d}"})
                for rank, advisory in enumerate(stay, start=1)
            ),
            warnings=tuple(warning for warning, _ in warnings),
            warning_principles=tuple(principle_id for _, principle_id in warnings),
        )


class AdviceSource(Protocol):
    """Offers advice to one sample. Equal moments give equal offers."""

    def offer(self, moment: AdviceMoment) -> Offer:
        """Return the advice for a sample.

        Raises:
            LeakageError: with `firewall: strict`, the advice names a label or an aspect of the sample.
        """
        ...


def retrieved_episodes(moment: AdviceMoment) -> Episodes:
    """Return what retrieval found."""
    return moment.retrieved


def random_episodes(moment: AdviceMoment) -> Episodes:
    """Return as many episodes as retrieval found, drawn by uid among all others of the sample's language."""
    numbers = moment.store.numbers(moment.signature.language)
    own = stored_uid(moment.uid)
    taken = {episode.episode_id for episode in moment.retrieved}
    drawn = (moment.store.numbered(numbers[place]) for place in drawn_places(moment.uid, len(numbers)))
    others = (episode for episode in drawn if episode.episode_id not in taken and episode.provenance.source_id != own)
    return tuple(islice(others, len(moment.retrieved)))


class EpisodeAdvice:
    """Advice made of episodes; `choose` says of which."""

    def __init__(
        self,
        choose: Callable[[AdviceMoment], Episodes],
        retriever: Retriever,
        builder: AdvisoryBuilder,
        firewall: LabelFirewall,
        *,
        prohibit_dangerous: bool,
        retired: frozenset[str] = frozenset(),
    ) -> None:
        self._choose = choose
        self._retriever = retriever
        self._builder = builder
        self._firewall = firewall
        self._prohibit_dangerous = prohibit_dangerous
        self._retired = retired

    def offer(self, moment: AdviceMoment) -> Offer:
        """Return the advisories and warnings of the chosen episodes, retired principles left out."""
        episodes = self._choose(moment)
        build = self._builder.build_from_episodes(
            episodes,
            moment.signature,
            query_tokens=self._retriever.lexical_tokens(moment.query),
            prohibit_dangerous=self._prohibit_dangerous,
        )
        screened = self._firewall.screen(build, moment.terms)
        return _offer(screened, build, episodes).without(self._retired)


class OneVoiceAdvice:
    """Advice of rules v3 made of episodes: one advisory per principle, none against another.

    Args:
        advice: made of episodes by their outcomes. What its firewall or a retired principle takes away cannot silence
            the others.
        catalogue: says what a principle expects.
    """

    def __init__(self, advice: EpisodeAdvice, catalogue: PrincipleCatalogue) -> None:
        self._advice = advice
        self._catalogue = catalogue

    def offer(self, moment: AdviceMoment) -> Offer:
        """Return the advisories and warnings of the chosen episodes that agree with the best ranked."""
        offer = self._advice.offer(moment)
        voice = one_voice(
            (advisory for advisory in offer.advisories if isinstance(advisory, AdvisoryV1_2)), self._catalogue
        )
        warnings = dict(zip(offer.warnings, offer.warning_principles, strict=True))
        return replace(
            offer,
            advisories=voice.advisories,
            warnings=tuple(warnings),
            warning_principles=tuple(warnings.values()),
            repeated_advisory_n=voice.repeated_n,
            opposed_advisory_n=voice.opposed_n,
        )


class ConstantAdvice:
    """The same principle for every sample, whatever the store holds."""

    def __init__(self, principle: Principle, firewall: LabelFirewall) -> None:
        self._principle = principle
        self._firewall = firewall

    def offer(self, moment: AdviceMoment) -> Offer:
        """Return one advisory with the principle's text."""
        advisory = AdvisoryV1_1(
            advisory_id="adv_000001",
            advisory_type="consistency_anchor",
            message=self._principle.text(moment.signature.language),
            # The highest values, so that the control is not at a disadvantage against retrieved advice.
            strength="strong",
            relevance_score=1.0,
            evidence=EvidenceV1_1(source_episode_ids=(), risk_tags=(), principle_id=self._principle.principle_id),
        )
        build = AdvisoryBuild(advisories=(advisory,))
        return _offer(self._firewall.screen(build, moment.terms), build, ())


class PlaceboAdvice:
    """Texts about nothing in place of what another source would have shown.

    Args:
        instead_of: the source whose advice is replaced.
        shown: returns the bundle that a prompt would show of an offer, None for nothing.
        firewall: screens the texts, too.
        match_chars: whether the texts are as long as those they replace.
    """

    def __init__(
        self,
        instead_of: AdviceSource,
        shown: Callable[[Offer, Language], AnyBundle | None],
        firewall: LabelFirewall,
        *,
        match_chars: bool,
    ) -> None:
        self._instead_of = instead_of
        self._shown = shown
        self._firewall = firewall
        self._match_chars = match_chars

    def offer(self, moment: AdviceMoment) -> Offer:
        """Return as many advisories as would have been shown, without their content."""
        replaced, language = self._instead_of.offer(moment), moment.signature.language
        bundle = self._shown(replaced, language)
        if bundle is None:
            return replace(replaced, advisories=(), warnings=(), warning_principles=(), episodes=())
        placebos = placebo_advisories(bundle, language, moment.uid, moment.terms, match_chars=self._match_chars)
        screened = self._firewall.screen(AdvisoryBuild(advisories=placebos), moment.terms)
        return replace(
            _offer(screened, replaced.build, ()),
            firewall_dropped_n=replaced.firewall_dropped_n + screened.dropped_n,
            repeated_advisory_n=replaced.repeated_advisory_n,
            opposed_advisory_n=replaced.opposed_advisory_n,
            matched_chars=shown_chars(bundle),
        )


class WithheldAdvice:
    """The advice of another source, of which a coin per principle leaves some out."""

    def __init__(self, source: AdviceSource, withhold: float) -> None:
        self._source = source
        self._withhold = withhold

    def offer(self, moment: AdviceMoment) -> Offer:
        """Return the advice whose coin keeps it, with all coins."""
        offer = self._source.offer(moment)
        coins = tuple(
            Coin(principle_id=principle_id, withheld=coin_value(moment.uid, principle_id) < self._withhold)
            for principle_id in offer.principles
        )
        withheld = {coin.principle_id for coin in coins if coin.withheld}
        return replace(offer.without(withheld), coins=coins)


def shown_chars(bundle: AnyBundle) -> int:
    """Return the characters of the messages and warnings of a bundle."""
    return sum(len(advisory.message) for advisory in bundle.retrieved) + sum(map(len, bundle.warnings))


def _offer(screened: Screened, build: AdvisoryBuild, episodes: Episodes) -> Offer:
    return Offer(
        advisories=screened.advisories,
        warnings=screened.warnings,
        warning_principles=screened.warning_principles,
        episodes=episodes,
        build=build,
        firewall_dropped_n=screened.dropped_n,
    )
