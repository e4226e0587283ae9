"""Opens what the `advice` overlay of a condition names, and puts its source together."""

from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from episodic_absa.errors import ConfigError
from episodic_absa.memory.advice.label_firewall import LabelFirewall
from episodic_absa.memory.advice.principles import Principle, PrincipleCatalogue, load_catalogue
from episodic_absa.memory.advice.sources import (
    AdviceMoment,
    AdviceSource,
    ConstantAdvice,
    EpisodeAdvice,
    Episodes,
    Offer,
    PlaceboAdvice,
    WithheldAdvice,
    random_episodes,
    retrieved_episodes,
)
from episodic_absa.memory.injection.injection_controller import InjectionController
from episodic_absa.memory.memory_form import MemoryForm
from episodic_absa.memory.memory_store import MemoryStore
from episodic_absa.memory.retriever import Retriever
from episodic_absa.postgres.location import is_postgres
from episodic_absa.schemas.advisory_v1_2 import AnyBundle
from episodic_absa.schemas.overlays.advice_overlay import AdviceOverlay, CatalogueOverlay
from episodic_absa.schemas.run import Condition
from episodic_absa.serialization.yaml_file import read_yaml_file
from episodic_absa.store.episode_store import DEFAULT_KEEP_LAST_N
from episodic_absa.vocabulary import Language


def load_catalogue_overlay(path: Path, catalogue: PrincipleCatalogue | None = None) -> CatalogueOverlay:
    """Return the overlay of a YAML or JSON file, such as `{"retired": ["P-NEG-03"]}`.

    Args:
        path: the file.
        catalogue: the principles that it may name; by default the shipped ones.

    Raises:
        ConfigError: the file cannot be read, has an unknown key, or names a principle that does not exist.
    """
    key = "advice.catalogue"
    document = read_yaml_file(path)
    try:
        overlay = CatalogueOverlay.model_validate(document)
    except ValidationError as error:
        raise ConfigError(
            f"{path}: a catalogue overlay is a mapping with the key retired and a list of principle ids, "
            'such as {"retired": ["P-NEG-03"]}',
            path=path,
            key=key,
        ) from error
    known = catalogue or load_catalogue()
    for principle_id in overlay.retired:
        if known.get(principle_id) is None:
            raise ConfigError(
                f"{path}: retired names {principle_id}, which is no principle of the catalogue; correct or remove it",
                path=path,
                key=key,
            )
    return overlay


class OpenedAdvice:
    """The parts that sources are made of, and what an overlay names, opened.

    Args:
        condition: its overlay says where advice comes from.
        catalogue: the principles.
        retriever: also searches a donor's store.
        firewall: screens everything that is offered.
        injection: says what of an offer a prompt would show.
        form: says what advice of episodes is.
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
        self._retriever = retriever
        retired = retired_principles(overlay, root, catalogue)
        donor_path = donor_store(overlay, root)
        self._donor = MemoryStore(donor_path, keep_last_n=keep_last_n, reads_only=True) if donor_path else None

        def of_episodes(choose: Callable[[AdviceMoment], Episodes]) -> AdviceSource:
            return form.advice(
                catalogue,
                lambda builder: EpisodeAdvice(
                    choose, retriever, builder, firewall, prohibit_dangerous=prohibit_dangerous, retired=retired
                ),
            )

        source: AdviceSource
        if overlay.source == "constant":
            source = ConstantAdvice(constant_principle(overlay, catalogue, retired), firewall)
        elif overlay.source == "random":
            source = of_episodes(random_episodes)
        elif overlay.source == "donor":
            source = of_episodes(self._donor_episodes)
        else:
            source = of_episodes(retrieved_episodes)
        if overlay.source == "placebo":

            def shown(offer: Offer, language: Language) -> AnyBundle | None:
                return injection.shown_bundle(condition, offer.advisories, offer.warnings, language=language)

            source = PlaceboAdvice(source, shown, firewall, match_chars=overlay.matches_chars)
        self.source = WithheldAdvice(source, overlay.withhold) if overlay.withhold else source

    def close(self) -> None:
        """Close the donor's store."""
        if self._donor is not None:
            self._donor.close()

    def _donor_episodes(self, moment: AdviceMoment) -> Episodes:
        if self._donor is None:
            return ()
        return self._retriever.retrieve(
            self._donor.load(), moment.signature, moment.query, sample_id=moment.uid or None
        )


def require_advice(overlay: AdviceOverlay, root: Path | None, catalogue: PrincipleCatalogue) -> None:
    """Refuse an overlay that names a store, a file or a principle that does not exist.

    Raises:
        ConfigError: it does; the message names the key.
    """
    donor_store(overlay, root)
    retired = retired_principles(overlay, root, catalogue)
    if overlay.source == "constant":
        constant_principle(overlay, catalogue, retired)


def donor_store(overlay: AdviceOverlay, root: Path | None) -> Path | None:
    """Return the store that a donor condition reads, None for other conditions.

    Raises:
        ConfigError: there is no such file.
    """
    if overlay.store is None:
        return None
    path = (root or Path()) / overlay.store
    if is_postgres(overlay.store):
        raise ConfigError(
            "advice.store is the address of a database; a donor's store must not change while it is read, so it is a "
            "file; name a .jsonl file",
            key="advice.store",
        )
    if not path.is_file():
        raise ConfigError(
            f"advice.store: {path} does not exist; name the file of a store", path=path, key="advice.store"
        )
    return path


def retired_principles(
    overlay: AdviceOverlay, root: Path | None, catalogue: PrincipleCatalogue | None = None
) -> frozenset[str]:
    """Return the principles that the overlay's catalogue file retires.

    Raises:
        ConfigError: the file cannot be read or is no catalogue overlay.
    """
    if overlay.catalogue is None:
        return frozenset()
    return frozenset(load_catalogue_overlay((root or Path()) / overlay.catalogue, catalogue).retired)


def constant_principle(overlay: AdviceOverlay, catalogue: PrincipleCatalogue, retired: frozenset[str]) -> Principle:
    """Return the principle that a constant condition shows.

    Raises:
        ConfigError: the catalogue has none of that id, or the overlay's catalogue file retires it.
    """
    principle = catalogue.get(overlay.principle or "")
    key = "advice.principle"
    if principle is None:
        raise ConfigError(
            f"advice.principle: {overlay.principle} is no principle of the catalogue; "
            f"choose one of {', '.join(entry.principle_id for entry in catalogue)}",
            key=key,
        )
    if principle.principle_id in retired:
        raise ConfigError(
            f"advice.principle: {principle.principle_id} is retired by advice.catalogue; name another "
            "principle, or take it off that list",
            key=key,
        )
    return principle
