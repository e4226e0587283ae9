"""Reads conditions files, the only source of condition flags. No code compares the name of a condition."""

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal, get_args

from pydantic import ValidationError

from episodic_absa.errors import ConfigError
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.schemas.overlays import AdviceOverlay, PipelineOverlay, advice_problem, effort_problem
from episodic_absa.schemas.run import Condition
from episodic_absa.serialization.plain_name import name_problem
from episodic_absa.serialization.quoted_value import listed, quoted, shortened
from episodic_absa.serialization.yaml_file import parse_yaml, read_yaml_bytes
from episodic_absa.vocabulary import DangerousAdvice, MemoryMode, Rules

ConditionsVersion = Literal["v1_1", "v1_2", "v1_3", "v3_0"]
DEFAULT_VERSION: Final[ConditionsVersion] = "v3_0"
_FORMER_VERSIONS: Final[Mapping[str, ConditionsVersion]] = {"v2_0": "v3_0"}
_FORMER_RULES: Final[Mapping[str, Rules]] = {"v2": "v3"}
"""Names of version 0.2, accepted in 0.3."""

_FILE_KEYS: Final = ("version", "dangerous_advice", "use_lexical", "conditions", "aliases")
_MODE: Final = "memory_mode"
_RESERVED_NAMES: Final = ("build",)
"""The directories of the cells that build a store begin with it."""
_OVERLAYS: Final = ("rules", "advice", "pipeline")
_OVERLAY_MODELS: Final[Mapping[str, type[FrozenModel]]] = {"advice": AdviceOverlay, "pipeline": PipelineOverlay}
_GIVEN_ELSEWHERE: Final = ("name", "dangerous_advice", "use_lexical", *_OVERLAYS)
FLAG_NAMES: Final = tuple(field for field in Condition.model_fields if field not in _GIVEN_ELSEWHERE)
"""What an entry under `conditions` may set: a new flag is a field of `Condition` and nothing else."""
DEFAULT_COMPARISONS: Final = (("C2", "C1"), ("C2", "C2_silent"), ("C2", "C2_random"), ("C2", "C2_placebo"))
"""The pairs that an experiment compares unless it names others, as far as it runs both conditions."""

_DEFAULT_FLAGS: Final[Mapping[MemoryMode, Mapping[str, bool]]] = {
    mode: {
        "retrieval_execute": mode != "off",
        "injection_mask": mode != "on",
        "store_write": mode != "off",
        "exposed_to_debate": mode == "on",
        "exposed_to_stage2": mode == "on",
    }
    for mode in get_args(MemoryMode)
}
"""Flags that an entry leaves out: as C1, C2 and C2_silent have them."""
_DEFAULT_HEAD: Final[Mapping[str, Any]] = {"dangerous_advice": "block", "use_lexical": True}

_MEMORY_BLOCK: Final[Mapping[str, str]] = {"advisory": "C2", "silent": "C2_silent"}
"""`memory.mode` of an experiment -> the name of its condition."""
_MEMORY_OFF: Final = "C1"


@dataclass(frozen=True)
class ConditionsFile:
    """The conditions of one file, by name."""

    path: Path
    sha256: str
    version: str
    dangerous_advice: DangerousAdvice
    use_lexical: bool
    conditions: Mapping[str, Condition]
    aliases: Mapping[str, str]

    def resolve(self, name: str, *, key: str = "episodic_memory.condition") -> Condition:
        """Return the condition with that name or alias.

        Raises:
            ConfigError: there is none. The message lists the names; `key` is the key that named the condition.
        """
        target = self.aliases.get(name, name) if isinstance(name, str) else None
        if target not in self.conditions:
            choices = [*self.conditions, *(f"{alias} (= {name})" for alias, name in self.aliases.items())]
            elsewhere = _shipped_with(name)
            hint = f"; {name} is in the shipped file {elsewhere}" if elsewhere else ""
            raise ConfigError(
                f"unknown condition {quoted(name)} in {self.path.name}; choose one of {listed(choices)}{hint}",
                path=self.path,
                key=key,
            )
        return self.conditions[target or ""]


def load_condition(name: str, source: str | Path | None = None) -> Condition:
    """Return one condition by its name or alias.

    Args:
        name: the name, such as C1 or C2.
        source: None (the default version), `v1_1`, `v1_2`, `v1_3`, `v3_0`, or the path of a conditions file.

    Raises:
        ConfigError: the file cannot be read, or there is no such condition; the message lists all names.

    Example:
        >>> from episodic_absa import load_condition
        >>> condition = load_condition("C2_silent")
        >>> condition.store_write, condition.exposed_to_debate
        (True, False)
    """
    return load_conditions(source).resolve(name)


def load_conditions(source: str | Path | None = None) -> ConditionsFile:
    """Return all conditions of a file.

    Args:
        source: None (the default version), `v1_1`, `v1_2`, `v1_3`, `v3_0`, or the path of a conditions file.

    Raises:
        ConfigError: the file cannot be read, or a flag in it is unknown or contradicts another.

    Example:
        >>> from episodic_absa import load_conditions
        >>> list(load_conditions("v1_3").conditions)
        ['C1', 'C2', 'C2_silent', 'C2_eval_only', 'C2_frozen']
    """
    path = _locate(source)
    try:
        content = read_yaml_bytes(path)
    except OSError as error:
        raise ConfigError(
            f"cannot read the conditions file {path}: {error.strerror}; "
            f"give a path or one of {', '.join(get_args(ConditionsVersion))}",
            path=path,
            key="episodic_memory.conditions_path",
        ) from error
    return _Reader(path).read(parse_yaml(content, path), sha256=hashlib.sha256(content).hexdigest())


def _shipped_with(name: str) -> str | None:
    """Return the first shipped version that defines a condition, None if there is none."""
    for version in get_args(ConditionsVersion) if isinstance(name, str) else ():
        shipped = load_conditions(version)
        if name in shipped.conditions or name in shipped.aliases:
            return str(version)
    return None


def resolve_conditions(
    conditions_file: ConditionsFile,
    *,
    memory: Mapping[str, Any] | None = None,
    condition: str | None = None,
    conditions: Sequence[str] | None = None,
) -> tuple[Condition, ...]:
    """Return the conditions of an experiment, which may name them in three ways.

    Args:
        conditions_file: defines the names.
        memory: the `memory` block of the experiment.
        condition: its `episodic_memory.condition`.
        conditions: its `experiment.conditions`.

    Raises:
        ConfigError: a name is unknown or given twice, or two of the three ways name different conditions.
    """
    named: dict[str, tuple[Condition, ...]] = {}
    if memory is not None:
        named["memory"] = (conditions_file.resolve(_condition_of_block(memory), key="memory"),)
    if condition is not None:
        key = "episodic_memory.condition"
        named[key] = (conditions_file.resolve(condition, key=key),)
    if conditions is not None:
        key = "experiment.conditions"
        if not conditions:
            raise ConfigError("experiment.conditions is empty; name at least one condition", key=key)
        resolved = tuple(conditions_file.resolve(name, key=key) for name in conditions)
        if len({resolved_condition.name for resolved_condition in resolved}) < len(resolved):
            raise ConfigError(
                f"experiment.conditions names a condition twice: {listed(conditions)}; keep one of them", key=key
            )
        named[key] = resolved
    if len({frozenset(chosen.name for chosen in choice) for choice in named.values()}) > 1:
        choices = "; ".join(
            f"{key} says {', '.join(chosen.name for chosen in choice)}" for key, choice in named.items()
        )
        raise ConfigError(f"conditions are named twice and differ: {choices}; keep one of them", key=next(iter(named)))
    # All ways name the same set; the longest one may hold an order.
    return max(named.values(), key=len) if named else (conditions_file.resolve(_MEMORY_OFF),)


def _condition_of_block(block: Mapping[str, Any]) -> str:
    """Return the condition that `memory: {enable, mode}` stands for. A disabled memory is off in every mode."""
    if not isinstance(block, Mapping):
        raise ConfigError(f"memory must be a mapping with enable and mode, got {quoted(block)}", key="memory")
    for key in block:
        if key not in ("enable", "mode"):
            raise ConfigError(
                f"unknown key memory.{shortened(str(key))}; choose one of enable, mode", key=f"memory.{key}"
            )
    enable, mode = block.get("enable"), block.get("mode", "advisory")
    if not isinstance(enable, bool):
        raise ConfigError(f"memory.enable must be true or false, got {quoted(enable)}", key="memory.enable")
    if not enable:
        return _MEMORY_OFF
    if not isinstance(mode, str) or mode not in _MEMORY_BLOCK:
        raise ConfigError(
            f"unknown memory.mode {quoted(mode)}; choose one of {', '.join(_MEMORY_BLOCK)}", key="memory.mode"
        )
    return _MEMORY_BLOCK[mode]


def _locate(source: str | Path | None) -> Path:
    version = DEFAULT_VERSION if source is None else str(source)
    if version in _FORMER_VERSIONS:
        _tell_new_name(f"conditions {version}", f"conditions {_FORMER_VERSIONS[version]}")
        version = _FORMER_VERSIONS[version]
    if version in get_args(ConditionsVersion):
        return Path(str(files("episodic_absa"))) / "conditions" / f"conditions_memory_{version}.yaml"
    return Path(version)


def _tell_new_name(former: str, name: str) -> None:
    """Tell once that a name changed; Python shows a warning of one line of code once."""
    warnings.warn(f"{former} is called {name} now; version 0.4 will not know the old name", FutureWarning, stacklevel=1)


class _Reader:
    """Reads one document; an error names the key that is wrong."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, document: Any, *, sha256: str) -> ConditionsFile:
        top = self._mapping(document, "the file")
        self._only_keys(top, _FILE_KEYS, "")
        if "conditions" not in top:
            raise self._error("conditions is missing; add it", "conditions")
        top = {"version": self.path.stem, **_DEFAULT_HEAD, **top}
        advice, lexical = top["dangerous_advice"], top["use_lexical"]
        if not isinstance(top["version"], str | int | float):
            raise self._error(f"version must be a text or a number, got {quoted(top['version'])}", "version")
        if advice not in get_args(DangerousAdvice):
            raise self._error(
                f"dangerous_advice must be one of {', '.join(get_args(DangerousAdvice))}, got {quoted(advice)}",
                "dangerous_advice",
            )
        if not isinstance(lexical, bool):
            raise self._error(f"use_lexical must be true or false, got {quoted(lexical)}", "use_lexical")
        conditions = {
            self._name(name, "conditions"): self._condition(name, flags, advice, lexical)
            for name, flags in self._mapping(top["conditions"], "conditions").items()
        }
        if not conditions:
            raise self._error("conditions is empty; define at least one", "conditions")
        return ConditionsFile(
            path=self.path,
            sha256=sha256,
            version=str(top["version"]),
            dangerous_advice=advice,
            use_lexical=lexical,
            conditions=conditions,
            aliases=self._aliases(top.get("aliases") or {}, conditions),
        )

    def _condition(self, name: str, flags: Any, advice: DangerousAdvice, lexical: bool) -> Condition:  # noqa: FBT001
        key = f"conditions.{name}"
        flags = self._mapping(flags, key)
        self._only_keys(flags, (*FLAG_NAMES, *_OVERLAYS), f"{key}.")
        rules = flags.get("rules", "seed")
        if isinstance(rules, str) and rules in _FORMER_RULES:
            _tell_new_name(f"rules {rules}", f"rules {_FORMER_RULES[rules]}")
            rules = _FORMER_RULES[rules]
            flags = {**flags, "rules": rules}
        if rules not in get_args(Rules):
            raise self._error(
                f"{key}.rules must be one of {', '.join(get_args(Rules))}, got {quoted(rules)}", f"{key}.rules"
            )
        for flag, value in flags.items():
            if flag != _MODE and flag not in _OVERLAYS and not isinstance(value, bool):
                raise self._error(f"{key}.{flag} must be true or false, got {quoted(value)}", f"{key}.{flag}")
        mode = flags.get(_MODE, "off")
        if isinstance(mode, bool):
            raise self._error(
                f'{key}.memory_mode was read as a boolean: put it in quotes, one of "off", "on", "silent"',
                f"{key}.memory_mode",
            )
        if mode not in get_args(MemoryMode):
            raise self._error(
                f"{key}.memory_mode must be one of {', '.join(get_args(MemoryMode))}, got {quoted(mode)}",
                f"{key}.memory_mode",
            )
        flags = {_MODE: mode, **_DEFAULT_FLAGS[mode], **flags}
        for overlay, model in _OVERLAY_MODELS.items():
            if overlay in flags:
                flags = {**flags, overlay: self._overlay(model, flags[overlay], f"{key}.{overlay}")}
        condition = Condition(name=name, dangerous_advice=advice, use_lexical=lexical, **flags)
        if complaint := _contradiction(condition):
            raise self._error(f"{key}: {complaint}", key)
        return condition

    def _overlay(self, model: type[FrozenModel], overlay: Any, key: str) -> FrozenModel:
        try:
            return model.model_validate(self._mapping(overlay, key), by_name=False)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            place = shortened(".".join((key, *map(str, problem["loc"]))))
            if problem["type"] == "extra_forbidden":
                choices = ", ".join(field.alias or name for name, field in model.model_fields.items())
                raise self._error(f"unknown key {place}; a condition may set {choices}", place) from error
            raise self._error(f"{place}: {problem['msg']}", place) from error

    def _aliases(self, aliases: Any, conditions: Mapping[str, Condition]) -> dict[str, str]:
        aliases = self._mapping(aliases, "aliases")
        for alias, target in aliases.items():
            key = f"aliases.{alias}"
            if self._name(alias, "aliases") in conditions:
                raise self._error(f"{key} hides the condition of that name; choose another alias", key)
            if not isinstance(target, str) or target not in conditions:
                raise self._error(f"{key} points to {quoted(target)}; choose one of {listed(conditions)}", key)
        return dict(aliases)

    def _mapping(self, value: Any, what: str) -> dict[Any, Any]:
        if not isinstance(value, dict):
            raise self._error(f"{what} must be a mapping, got {type(value).__name__}", what)
        return value

    def _name(self, name: Any, where: str) -> str:
        if (problem := name_problem(name)) or name in _RESERVED_NAMES:
            problem = problem or "is taken: the cells that build a store have it"
            raise self._error(
                f'{where}: a name is plain text without "__", "/" and "\\"; {quoted(name)} {problem}', where
            )
        return str(name)

    def _only_keys(self, mapping: Mapping[Any, Any], known: Sequence[str], prefix: str) -> None:
        for key in mapping:
            if key not in known:
                place = shortened(f"{prefix}{key}")
                raise self._error(f"unknown key {place}; choose one of {', '.join(known)}", place)

    def _error(self, message: str, key: str) -> ConfigError:
        return ConfigError(f"{self.path}: {message}", path=self.path, key=key)


def _contradiction(condition: Condition) -> str | None:
    """Return how the flags and the overlays contradict each other, None if they do not."""
    exposed = condition.exposed_to_debate or condition.exposed_to_stage2
    retrieves, masked = condition.retrieval_execute, condition.injection_mask
    if exposed and masked:
        return "exposed to a prompt but masked; set injection_mask: false or both exposures to false"
    if exposed and not retrieves:
        return "exposed to a prompt but retrieves nothing; set retrieval_execute: true"
    if not masked and not retrieves:
        return "not masked but retrieves nothing; set injection_mask: true or retrieval_execute: true"
    required = {
        "off": (not (retrieves or condition.store_write or exposed), "neither retrieves, stores nor exposes"),
        "on": (retrieves and not masked and exposed, "retrieves, is not masked and is exposed somewhere"),
        "silent": (retrieves and masked and not exposed, "retrieves, is masked and is exposed nowhere"),
    }
    holds, meaning = required[condition.memory_mode]
    if not holds:
        return f'memory_mode "{condition.memory_mode}" {meaning}; these flags say otherwise'
    asked = condition.pipeline
    problem = effort_problem(condition.rules, effort=asked.effort, votes=asked.votes, joint=asked.stage1.joint)
    if problem is not None:
        return f"pipeline.{problem}"
    return advice_problem(condition.advice, is_exposed=condition.is_exposed, effort=asked.effort)
