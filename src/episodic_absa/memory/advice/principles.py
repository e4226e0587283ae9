"""The catalogue of principles. Every advisory takes its text from here; the texts are in principles.yaml.

Under rules v3 an outcome is no risk that fell or rose: principles_v3.yaml words those principles anew.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import Field, ValidationError, model_validator

from episodic_absa.errors import ConfigError
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.serialization.quoted_value import quoted, shortened
from episodic_absa.serialization.yaml_file import parse_yaml
from episodic_absa.vocabulary import (
    L3_RISKS,
    RISK_IDS,
    SEVERITY_WEIGHT,
    ActionTaken,
    EpisodeType,
    Expects,
    Language,
    PrincipleRisk,
    RiskId,
    Severity,
)

PrincipleAction = ActionTaken | Literal["any"]
PrincipleOutcome = EpisodeType | Literal["any"]
PrincipleId = Annotated[str, Field(strict=True, pattern=r"^P-[A-Z]{3}-[0-9]{2}$")]
PrincipleText = Annotated[str, Field(strict=True, max_length=300, pattern=r"\S")]
AntiPattern = Annotated[str, Field(strict=True, max_length=200, pattern=r"\S")]

_Keys = tuple[PrincipleRisk, PrincipleAction, PrincipleOutcome]

_RISKS: Final[tuple[PrincipleRisk, ...]] = tuple(
    risk for literal in get_args(PrincipleRisk) for risk in get_args(literal)
)
_ACTIONS: Final[tuple[ActionTaken, ...]] = get_args(ActionTaken)
_OUTCOMES: Final[tuple[EpisodeType, ...]] = get_args(EpisodeType)

_ALLOWED: Final[Mapping[str, str]] = {
    "principle_id": "P-, three capital letters, -, two digits, such as P-NEG-01",
    "risk": f"one of {', '.join(_RISKS)}",
    "action": f"one of {', '.join(_ACTIONS)}, any",
    "outcome": f"one of {', '.join(_OUTCOMES)}, any",
    "expects": f"one of {', '.join(get_args(Expects))}",
    "text_en": "a text of 1 to 300 characters",
    "text_ko": "a text of 1 to 300 characters",
    "anti_pattern_en": "a text of 1 to 200 characters, or left out",
    "anti_pattern_ko": "a text of 1 to 200 characters, or left out",
}
"""Every key of an entry, and its allowed values, for error messages."""


class V3Wording(FrozenModel):
    """How a principle reads under rules v3."""

    principle_id: PrincipleId
    text_en: PrincipleText
    text_ko: PrincipleText


class Principle(FrozenModel):
    """One piece of advice, and the kind of episode that it answers."""

    principle_id: PrincipleId
    risk: PrincipleRisk
    action: PrincipleAction
    outcome: PrincipleOutcome
    expects: Expects
    """Whether a sample that follows the advice changes its tuples or keeps them."""
    text_en: PrincipleText
    text_ko: PrincipleText
    anti_pattern_en: AntiPattern | None = None
    anti_pattern_ko: AntiPattern | None = None
    v3_wording: V3Wording | None = None
    """The texts under rules v3, if they differ. A catalogue file does not hold it."""

    @model_validator(mode="after")
    def _anti_pattern_in_both_languages_or_none(self) -> Self:
        if (self.anti_pattern_en is None) != (self.anti_pattern_ko is None):
            raise ValueError("give anti_pattern_en and anti_pattern_ko, or neither")
        return self

    @property
    def keys(self) -> _Keys:
        """The risk, action and outcome by which the principle is looked up."""
        return self.risk, self.action, self.outcome

    def text(self, language: Language) -> str:
        """Return the advice, in Korean for Korean, else in English."""
        return self.text_ko if language == "ko" else self.text_en

    @property
    def wordings_en(self) -> tuple[str, ...]:
        """Every English text of the principle, under any rules."""
        return (self.text_en, *((self.v3_wording.text_en,) if self.v3_wording else ()))

    def in_v3_wording(self) -> Self:
        """Return the principle as it reads under rules v3."""
        wording = self.v3_wording
        if wording is None:
            return self
        return self.model_copy(update={"text_en": wording.text_en, "text_ko": wording.text_ko})

    def anti_pattern(self, language: Language) -> str | None:
        """Return the mistake to avoid, in Korean for Korean, else in English; None if the entry has none."""
        return self.anti_pattern_ko if language == "ko" else self.anti_pattern_en


@dataclass(frozen=True)
class PrincipleCatalogue:
    """The principles of one file. Every (risk, action, outcome) has exactly one best principle.

    Raises:
        ConfigError: an id is given twice, or there is no entry for any risk, action and outcome.
    """

    entries: tuple[Principle, ...]
    sha256: str
    """The sha256 of the file, as the manifest records it."""
    path: Path | None = None
    v3_sha256: str | None = None
    """The sha256 of the file with the texts under rules v3; None if there is none."""
    _by_id: Mapping[str, Principle] = field(init=False, repr=False, compare=False)
    _table: Mapping[tuple[str, str, str], Principle] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_id: dict[str, Principle] = {}
        for principle in self.entries:
            if principle.principle_id in by_id:
                raise self._error(
                    f"{principle.principle_id} is given twice; every entry needs an id of its own",
                    "principle_id",
                )
            by_id[principle.principle_id] = principle
        object.__setattr__(self, "_by_id", by_id)
        object.__setattr__(self, "_table", self._build_table())

    def lookup(self, risk: PrincipleRisk, action: str, outcome: EpisodeType) -> Principle:
        """Return the principle that fits best: an exact outcome counts 4, an exact risk 2, an exact action 1.

        An action that the catalogue does not know is any action.
        """
        return self._table.get((risk, action, outcome), self.general)

    def in_v3_wording(self) -> "PrincipleCatalogue":
        """Return the catalogue with the texts as they read under rules v3."""
        return replace(self, entries=tuple(principle.in_v3_wording() for principle in self.entries))

    def get(self, principle_id: str) -> Principle | None:
        """Return the principle with that id, None if there is none."""
        return self._by_id.get(principle_id)

    @property
    def general(self) -> Principle:
        """The principle for any risk, action and outcome."""
        return next(principle for principle in self.entries if principle.keys == ("any", "any", "any"))

    def __iter__(self) -> Iterator[Principle]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def _build_table(self) -> Mapping[tuple[str, str, str], Principle]:
        by_keys: dict[_Keys, Principle] = {}
        for principle in sorted(self.entries, key=lambda entry: entry.principle_id):
            by_keys.setdefault(principle.keys, principle)
        if ("any", "any", "any") not in by_keys:
            raise self._error("an entry with risk, action and outcome all any is missing; add one")
        return {keys: _best_match(by_keys, *keys) for keys in product(_RISKS, _ACTIONS, _OUTCOMES)}

    def _error(self, message: str, key: str | None = None) -> ConfigError:
        return ConfigError(f"{self.path or 'principle catalogue'}: {message}", path=self.path, key=key)


def load_catalogue(path: Path | None = None) -> PrincipleCatalogue:
    """Return the catalogue of a file, or the shipped one (read once per process).

    Args:
        path: a YAML file with principles; None for the shipped catalogue.

    Raises:
        ConfigError: the file cannot be read, or an entry in it is not a principle.

    Example:
        >>> from episodic_absa import load_catalogue
        >>> load_catalogue().get("P-NEG-01").text_en
        'Find the predicate that the negating word governs and judge only what lies inside that scope.'
    """
    return _shipped_catalogue() if path is None else _read_catalogue(path)


def risk_key(risks: Iterable[tuple[RiskId, Severity]], *, has_conflict: bool, has_implicit: bool) -> PrincipleRisk:
    """Return the key by which the principle of an episode is looked up.

    The worst L3 risk comes first, then a conflict, then the worst other risk, then an implicit opinion.
    """
    worst_first = [
        risk for risk, _ in sorted(risks, key=lambda rated: (-SEVERITY_WEIGHT[rated[1]], RISK_IDS.index(rated[0])))
    ]
    for risk in worst_first:
        if risk in L3_RISKS:
            return risk
    if has_conflict:
        return "conflict"
    if worst_first:
        return worst_first[0]
    return "implicit" if has_implicit else "none"


@cache
def _shipped_catalogue() -> PrincipleCatalogue:
    catalogue = _read_catalogue(Path(__file__).with_name("principles.yaml"))
    path = Path(__file__).with_name("principles_v3.yaml")
    content = path.read_bytes()
    wordings = {
        wording.principle_id: wording for wording in map(V3Wording.model_validate, parse_yaml(content, path) or ())
    }
    return replace(
        catalogue,
        entries=tuple(
            principle.model_copy(update={"v3_wording": wordings.get(principle.principle_id)}) for principle in catalogue
        ),
        v3_sha256=hashlib.sha256(content).hexdigest(),
    )


def _read_catalogue(path: Path) -> PrincipleCatalogue:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"cannot read the principle catalogue {path}: {error.strerror}; check the path", path=path
        ) from error
    document = parse_yaml(content, path)
    if not isinstance(document, list):
        raise ConfigError(f"{path}: a catalogue is a list of entries; see the shipped principles.yaml", path=path)
    return PrincipleCatalogue(
        entries=tuple(_read_entry(entry, place, path) for place, entry in enumerate(document, start=1)),
        sha256=hashlib.sha256(content).hexdigest(),
        path=path,
    )


def _read_entry(entry: Any, place: int, path: Path) -> Principle:
    name = f"entry {place}"
    if not isinstance(entry, dict):
        raise ConfigError(f"{path}: {name} must be a mapping with the keys {', '.join(_ALLOWED)}", path=path)
    name += f" ({shortened(str(entry['principle_id']))})" if "principle_id" in entry else ""
    for key in entry:
        if key not in _ALLOWED:
            raise ConfigError(
                f"{path}: {name} has the unknown key {quoted(key)}; allowed are {', '.join(_ALLOWED)}",
                path=path,
                key=str(key),
            )
    try:
        return Principle.model_validate(entry)
    except ValidationError as error:
        where = error.errors()[0]["loc"]
        if not where:
            message, wrong = "give anti_pattern_en and anti_pattern_ko, or neither", "anti_pattern_en"
        else:
            wrong = str(where[0])
            got = f"got {quoted(entry[wrong])}" if wrong in entry else "it is missing"
            message = f"{wrong} must be {_ALLOWED[wrong]}; {got}"
        raise ConfigError(f"{path}: {name}: {message}", path=path, key=wrong) from error


def _best_match(
    by_keys: Mapping[_Keys, Principle], risk: PrincipleRisk, action: ActionTaken, outcome: EpisodeType
) -> Principle:
    risks: tuple[PrincipleRisk, ...] = (risk, "any")
    actions: tuple[PrincipleAction, ...] = (action, "any")
    outcomes: tuple[PrincipleOutcome, ...] = (outcome, "any")
    # The scores 4, 2, 1 order the combinations as the product yields them: outcome slowest, action fastest.
    keys = ((risk, action, outcome) for outcome, risk, action in product(outcomes, risks, actions))
    return next(by_keys[key] for key in keys if key in by_keys)
