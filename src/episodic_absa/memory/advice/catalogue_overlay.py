"""Reads catalogue overlays: files that retire principles without touching the catalogue."""

from pathlib import Path

from pydantic import ValidationError

from episodic_absa.errors import ConfigError
from episodic_absa.memory.advice.principles import PrincipleCatalogue, load_catalogue
from episodic_absa.schemas.overlays.advice_overlay import CatalogueOverlay
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
