"""The differences between two sides of a comparison other than the condition, from manifests and scorecards."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final

from episodic_absa.analysis.compared_runs import Side
from episodic_absa.errors import RunDirectoryError
from episodic_absa.schemas.run_files.manifest import Manifest, Repetition
from episodic_absa.serialization.canonical_json import canonical_json

_BACKBONE_KEYS: Final = ("provider", "model", "base_url", "temperature", "max_tokens", "output")


def require_pairs(a: Side, b: Side) -> None:
    """Refuse two sides that have no sample in common."""
    for side in (a, b):
        if not side.cards:
            raise RunDirectoryError(
                f"{side.name} was not run yet: it holds no sample; run the experiment first", path=side.place
            )
    if a.keys & b.keys:
        return
    if a.repetitions.isdisjoint(b.repetitions):
        raise RunDirectoryError(
            f"nothing pairs up: {a.name} was run with {_repetition_words(a, b, a.repetitions)}, "
            f"{b.name} with {_repetition_words(a, b, b.repetitions)}, and samples are paired by uid, order "
            "and seed; name runs that share an order and a seed",
            path=b.place,
        )
    raise RunDirectoryError(
        f"nothing pairs up: {a.name} and {b.name} have no review in common; name runs over the same reviews",
        path=b.place,
    )


def incomparabilities(a: Side, b: Side) -> tuple[str, ...]:
    """Yield one line per reason that makes a comparison unfair."""
    return (*_same_run(a, b), *_differing_settings(a, b), *_unequal_samples(a, b))


def _same_run(a: Side, b: Side) -> Iterator[str]:
    shared = set(a.cells) & set(b.cells)
    if shared == set(a.cells) == set(b.cells):
        yield f"{a.name} is compared with itself: nothing can differ"
    elif shared:
        yield f"on both sides: {_listed(path.name for path in shared)}; there nothing can differ"


def _differing_settings(a: Side, b: Side) -> Iterator[str]:
    for label, value_of in _SETTINGS.items():
        found_a, found_b = ({_shown(value_of(manifest)) for manifest in side.manifests} for side in (a, b))
        if found_a != found_b:
            both = f" ({a.name}: {_listed(found_a)}; {b.name}: {_listed(found_b)})"
            # The values of hashes and whole settings would not help a reader.
            yield f"not the same {label}{'' if label in _NOT_SHOWN else both}"
    starts = {manifest.repetition: manifest.start_store_sha256 for manifest in a.manifests if manifest.needs_store}
    begun = [manifest for manifest in b.manifests if manifest.needs_store and manifest.repetition in starts]
    if any(starts[manifest.repetition] != manifest.start_store_sha256 for manifest in begun):
        yield "not the same memory to begin with"
    for side in (a, b):
        if not all(manifest.completed for manifest in side.manifests):
            yield f"{side.name} is not finished"


def _unequal_samples(a: Side, b: Side) -> Iterator[str]:
    for side in (a, b):
        failed = sum(card.status == "error" for card in side.cards)
        if failed:
            yield f"left out: {_samples(failed)} of {side.name} that failed"
    for side, other in ((a, b), (b, a)):
        only = side.repetitions - other.repetitions
        if only:
            yield f"left out: {_repetition_words(a, b, only)}, with which only {side.name} was run"
        alone = sum(key[1:] in other.repetitions for key in side.keys - other.keys)
        if alone:
            yield f"left out: {_samples(alone)} of {side.name} that {other.name} lacks"
    gold = {card.pair_key: card.gold_tuples for card in a.cards}
    regraded = sum(gold[card.pair_key] != card.gold_tuples for card in b.cards if card.pair_key in gold)
    if regraded:
        yield f"{_samples(regraded)} scored against different gold"


def _of_backbone(key: str) -> Callable[[Manifest], Any]:
    return lambda manifest: getattr(manifest.backbone, key)


def _reviews(manifest: Manifest) -> tuple[str, str | None]:
    split = manifest.dataset.processing_split
    return split, manifest.dataset.sha256.get(split)


_SETTINGS: Final[dict[str, Callable[[Manifest], Any]]] = {
    "reviews": _reviews,
    "way to order reviews": lambda manifest: manifest.shuffle,
    "gold": lambda manifest: manifest.gold.sha256 if manifest.gold else None,
    **{f"backbone.{key}": _of_backbone(key) for key in _BACKBONE_KEYS},
    "prompts": lambda manifest: manifest.prompt_versions,
    "pipeline settings": lambda manifest: manifest.cfg_canonical.get("pipeline"),
    "lexicon": lambda manifest: manifest.lexicon_sha256,
    "catalogue of principles": lambda manifest: manifest.catalogue_sha256,
    "recording": lambda manifest: manifest.recording_sha256,
    "embedded engine": lambda manifest: manifest.weights_sha256,
    "package version": lambda manifest: manifest.package_version,
    "count_backfilled": lambda manifest: manifest.config.eval.count_backfilled,
}
"""Settings that must be equal before a difference can be ascribed to the condition."""
_NOT_SHOWN: Final = (
    frozenset(_SETTINGS) - {"package version", "count_backfilled"} - {f"backbone.{key}" for key in _BACKBONE_KEYS}
)


def _repetition_words(a: Side, b: Side, repetitions: Collection[Repetition]) -> str:
    """Return orders and seeds in words; seeds alone where both sides have the order of the file or shuffle by seed."""
    orders, seeds = ({getattr(repetition, name) for repetition in repetitions} for name in ("order", "seed"))
    if not (a.has_orders or b.has_orders) and len({manifest.shuffle for manifest in (*a.manifests, *b.manifests)}) == 1:
        return f"seed {_listed(seeds)}"
    if len(orders) * len(seeds) == len(repetitions):
        return f"order {_listed(orders)} and seed {_listed(seeds)}"
    return "; ".join(repetition.words(with_order=True) for repetition in sorted(repetitions))


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(map(str, sorted(values)))


def _samples(number: int) -> str:
    return f"{number:,} sample{'' if number == 1 else 's'}"
