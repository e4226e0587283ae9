"""Opens what the `advice` overlay of a condition names: a donor's store, retired principles, a constant one."""

from pathlib import Path

from pydantic import ValidationError

from episodic_absa.errors import ConfigError
from episodic_absa.memory.advice.principles import Principle, PrincipleCatalogue, load_catalogue
from episodic_absa.postgres.location import is_postgres
from episodic_absa.schemas.overlays import AdviceOverlay, CatalogueOverlay
from episodic_absa.serialization.yaml_file import read_yaml_file


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
