"""The settings in which the recorded configuration of a cell differs from the present one."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from episodic_absa.runs.config.cfg_hash import hashed_settings
from episodic_absa.schemas.run_files.manifest import Manifest

_KEYS_SHOWN: Final = 5
_VALUE_CHARS: Final = 60


def differing_settings(known: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, ...]:
    """Return `key (was A, now B)` for every setting that decides results and differs.

    Args:
        known: the recorded configuration of a cell, `Manifest.cfg_canonical`.
        now: its present configuration.

    Example:
        >>> differing_settings({"backbone": {"model": "a", "seed": 1}}, {"backbone": {"model": "b", "seed": 1}})
        ("backbone.model (was 'a', now 'b')",)
    """
    before, after = _flat(hashed_settings(known)), _flat(hashed_settings(now))
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    newer = [key for key in keys if not _is_recorded(key, before)]
    version = (f"the version of episodic-absa (the run's has no {', '.join(newer)})",) if newer else ()
    changed = [key for key in keys if key not in newer]
    return (*version, *(f"{key} (was {_shown(before.get(key))}, now {_shown(after.get(key))})" for key in changed))


def differences_text(known: Manifest, now: Manifest) -> str:
    """Return what differs between two manifests of a cell, in words for a message."""
    return shown_differences(
        [*differing_settings(known.cfg_canonical, now.cfg_canonical), *_differing_files(known, now)]
    )


def shown_differences(differences: Sequence[str]) -> str:
    """Return the first differences in one line, and how many more there are."""
    more = f" and {len(differences) - _KEYS_SHOWN} more" if len(differences) > _KEYS_SHOWN else ""
    return "; ".join(differences[:_KEYS_SHOWN]) + more


def _differing_files(known: Manifest, now: Manifest) -> list[str]:
    """Return what differs beside the settings: files that they name, and what the package ships."""
    pairs = {
        "the content of the data files": (known.dataset.sha256, now.dataset.sha256),
        "the version of episodic-absa": (known.package_version, now.package_version),
        "the prompts": (known.prompt_versions, now.prompt_versions),
        "the lexicon": (known.lexicon_sha256, now.lexicon_sha256),
        "the catalogue": (known.catalogue_sha256, now.catalogue_sha256),
        "the texts of principles under rules v3": (known.wording_sha256, now.wording_sha256),
        "the conditions file": (known.conditions.sha256, now.conditions.sha256),
        "the allowlist": (known.allowlist_sha256, now.allowlist_sha256),
        "the recording": (known.recording_sha256, now.recording_sha256),
        "the weights of the engine": (known.weights_sha256, now.weights_sha256),
        "the donor's store": (known.episodic_memory.donor_store_sha256, now.episodic_memory.donor_store_sha256),
        "the retired principles": (
            known.episodic_memory.catalogue_overlay_sha256,
            now.episodic_memory.catalogue_overlay_sha256,
        ),
        "the placebo texts": (known.episodic_memory.placebo_sha256, now.episodic_memory.placebo_sha256),
        "the store that the cell starts from": (known.start_store_sha256, now.start_store_sha256),
    }
    return [name for name, (before, after) in pairs.items() if before != after]


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, inner in value.items():
        flat |= _flat(inner, f"{prefix}{key}.") if isinstance(inner, Mapping) else {f"{prefix}{key}": inner}
    return flat


def _is_recorded(key: str, recorded: Mapping[str, Any]) -> bool:
    """Return whether the key or a block that holds it is recorded: a block may be null."""
    names = key.split(".")
    return any(".".join(names[:length]) in recorded for length in range(1, len(names) + 1))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _VALUE_CHARS else f"{text[:_VALUE_CHARS]}…"
