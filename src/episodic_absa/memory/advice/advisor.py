"""The advice of a condition: that of retrieved cases, or what takes its place in a control arm of an experiment.

Nothing else differs between the arms: retrieval always runs, and gates, slots and storage know nothing of this.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.memory.advice.advisory_builder import AdvisoryBuild, AdvisoryBuilder
from episodic_absa.memory.advice.chance import coin_value, drawn_places
from episodic_absa.memory.advice.label_firewall import LabelFirewall
from episodic_absa.memory.advice.opened_advice import constant_principle, donor_store, retired_principles
from episodic_absa.memory.advice.outcome_advice import one_voice
from episodic_absa.memory.advice.placebo import placebo_advisories
from episodic_absa.memory.advice.principles import Principle, PrincipleCatalogue
from episodic_absa.memory.injection.injection_controller import InjectionController
from episodic_absa.memory.memory_form import MemoryForm
from episodic_absa.memory.memory_store import MemoryStore, StoredEpisodes
from episodic_absa.memory.retriever import Retriever
from episodic_absa.schemas.memory_v1_1 import AdvisoryV1_1, EvidenceV1_1, InputSignatureV1_1
from episodic_absa.schemas.memory_v1_2 import AnyAdvisory, AnyBundle
from episodic_absa.schemas.run import Coin, Condition
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3
from episodic_absa.store.episode_store import DEFAULT_KEEP_LAST_N
from episodic_absa.store.uids import stored_uid

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


class Advisor:
    """Offers advice to samples as the `advice` overlay of a condition says. Equal moments give equal offers.

    Args:
        condition: its overlay says where advice comes from.
        catalogue: the principles.
        retriever: also searches a donor's store.
        firewall: screens everything that is offered.
        injection: says what of an offer a prompt would show.
        form: says how advice of episodes speaks.
        prohibit_dangerous: whether advice that failed before is withheld.
        root: the folder that relative paths of the overlay start from; by default the working directory.
        keep_last_n: how many of the newest episodes of a donor's store are in use.

    Raises:
        ConfigError: the overlay names a store, a file or a principle that does not exist.
    """

    def __init__(
        self,
        condition: Condition,
        catalogue: PrincipleCatalogue,
        retriever: Retriever,
        firewall: LabelFirewall,
        injection: InjectionController,
        form: MemoryForm,
        *,
        prohibit_dangerous: bool,
        root: Path | None = None,
        keep_last_n: int = DEFAULT_KEEP_LAST_N,
    ) -> None:
        overlay = condition.advice
        self._condition = condition
        self._overlay = overlay
        self._catalogue = catalogue
        self._retriever = retriever
        self._firewall = firewall
        self._injection = injection
        self._has_one_voice = form.has_one_voice
        self._builder = AdvisoryBuilder(catalogue, form.voice)
        self._prohibit_dangerous = prohibit_dangerous
        self._retired = retired_principles(overlay, root, catalogue)
        is_constant = overlay.source == "constant"
        self._constant = constant_principle(overlay, catalogue, self._retired) if is_constant else None
        path = donor_store(overlay, root)
        self._donor = MemoryStore(path, keep_last_n=keep_last_n, reads_only=True) if path else None

    def offer(self, moment: AdviceMoment) -> Offer:
        """Return the advice for a sample.

        Raises:
            LeakageError: with `firewall: strict`, the advice names a label or an aspect of the sample.
        """
        offer = self._of_episodes(moment) if self._constant is None else self._of_constant(self._constant, moment)
        if self._overlay.source == "placebo":
            return self._as_placebo(offer, moment)
        return self._with_coins(offer, moment.uid) if self._overlay.withhold else offer

    def close(self) -> None:
        """Close the donor's store."""
        if self._donor is not None:
            self._donor.close()

    def _chosen_episodes(self, moment: AdviceMoment) -> Episodes:
        if self._overlay.source == "random":
            return _random_episodes(moment)
        if self._donor is None:
            return moment.retrieved
        return self._retriever.retrieve(
            self._donor.load(), moment.signature, moment.query, sample_id=moment.uid or None
        )

    def _of_episodes(self, moment: AdviceMoment) -> Offer:
        """Return the advisories and warnings of the chosen episodes, retired principles left out."""
        episodes = self._chosen_episodes(moment)
        build = self._builder.build_from_episodes(
            episodes,
            moment.signature,
            query_tokens=self._retriever.lexical_tokens(moment.query),
            prohibit_dangerous=self._prohibit_dangerous,
        )
        offer = self._screened(build, moment, episodes).without(self._retired)
        if not self._has_one_voice:
            return offer
        # What the firewall or a retired principle took away cannot silence the others.
        voice = one_voice(offer.advisories, self._catalogue)
        warnings = dict(zip(offer.warnings, offer.warning_principles, strict=True))
        return replace(
            offer,
            advisories=voice.advisories,
            warnings=tuple(warnings),
            warning_principles=tuple(warnings.values()),
            repeated_advisory_n=voice.repeated_n,
            opposed_advisory_n=voice.opposed_n,
        )

    def _of_constant(self, principle: Principle, moment: AdviceMoment) -> Offer:
        """Return one advisory with the text of a principle, whatever the store holds."""
        advisory = AdvisoryV1_1(
            advisory_id="adv_000001",
            advisory_type="consistency_anchor",
            message=principle.text(moment.signature.language),
            # The highest values, so that the control is not at a disadvantage against retrieved advice.
            strength="strong",
            relevance_score=1.0,
            evidence=EvidenceV1_1(source_episode_ids=(), risk_tags=(), principle_id=principle.principle_id),
        )
        return self._screened(AdvisoryBuild(advisories=(advisory,)), moment)

    def _as_placebo(self, offer: Offer, moment: AdviceMoment) -> Offer:
        """Return as many advisories as a prompt would show of an offer, about nothing."""
        language = moment.signature.language
        bundle = self._injection.shown_bundle(self._condition, offer.advisories, offer.warnings, language=language)
        if bundle is None:
            return replace(offer, advisories=(), warnings=(), warning_principles=(), episodes=())
        placebos = placebo_advisories(
            bundle, language, moment.uid, moment.terms, match_chars=self._overlay.matches_chars
        )
        screened = self._screened(AdvisoryBuild(advisories=placebos), moment)
        return replace(
            screened,
            build=offer.build,
            firewall_dropped_n=offer.firewall_dropped_n + screened.firewall_dropped_n,
            repeated_advisory_n=offer.repeated_advisory_n,
            opposed_advisory_n=offer.opposed_advisory_n,
            matched_chars=shown_chars(bundle),
        )

    def _with_coins(self, offer: Offer, uid: str) -> Offer:
        """Return the advice whose coin keeps it, with all coins: one for each principle."""
        coins = tuple(
            Coin(principle_id=principle_id, withheld=coin_value(uid, principle_id) < self._overlay.withhold)
            for principle_id in offer.principles
        )
        return replace(offer.without({coin.principle_id for coin in coins if coin.withheld}), coins=coins)

    def _screened(self, build: AdvisoryBuild, moment: AdviceMoment, episodes: Episodes = ()) -> Offer:
        screened = self._firewall.screen(build, moment.terms)
        return Offer(
            advisories=screened.advisories,
            warnings=screened.warnings,
            warning_principles=screened.warning_principles,
            episodes=episodes,
            build=build,
            firewall_dropped_n=screened.dropped_n,
        )


def shown_chars(bundle: AnyBundle) -> int:
    """Return the characters of the messages and warnings of a bundle."""
    return sum(len(advisory.message) for advisory in bundle.retrieved) + sum(map(len, bundle.warnings))


def _random_episodes(moment: AdviceMoment) -> Episodes:
    """Return as many episodes as retrieval found, drawn by uid among all others of the sample's language."""
    numbers = moment.store.numbers(moment.signature.language)
    own = stored_uid(moment.uid)
    taken = {episode.episode_id for episode in moment.retrieved}
    drawn = (moment.store.numbered(numbers[place]) for place in drawn_places(moment.uid, len(numbers)))
    others = (episode for episode in drawn if episode.episode_id not in taken and episode.provenance.source_id != own)
    return tuple(islice(others, len(moment.retrieved)))
