"""The tables of docs/specification that the program and its data decide. reference_tables.py writes them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, get_args

from tests.docs.specification_values import data_of, value_of
from tests.prohibitions.prohibitions import ENTRIES

import episodic_absa.vocabulary as vocabulary
from episodic_absa import PipelineSettings, load_catalogue, load_conditions
from episodic_absa.conditions import FLAG_NAMES

_ENUMERATIONS: Final[Mapping[str, str]] = {
    "Polarity": "polarity",
    "SentenceLabel": "label",
    "Language": "language",
    "Structure": "structure",
    "LengthBucket": "length",
    "Split": "split",
    "RiskId": "risk",
    "Severity": "severity",
    "ProposalType": "validator's proposal",
    "EditOp": "edit of a speaker or the judge",
    "AteAction": "Stage2's verdict on an aspect",
    "AtsaAction": "Stage2's verdict on a sentiment",
    "DropReason": "reason to drop a term",
    "ChangeKind": "change",
    "Outcome": "outcome",
    "OutcomeBy": "who decided an outcome",
    "Verdict": "a person's verdict",
    "MemoryMode": "memory mode",
    "AdvisoryType": "advisory",
    "Strength": "strength",
    "EpisodeType": "episode type",
    "RiskType": "[risk type]",
    "ActionTaken": "action taken",
    "ErrorCategory": "error category",
    "Expects": "what a principle expects",
    "DebateGateReason": "[gate of the debate]",
    "Stage2GateReason": "[gate of Stage2]",
    "InjectionSkip": "[why a prompt shows no slot]",
    "AdoptReason": "adoption",
    "StorageTag": "why an episode is stored",
    "StoreSkip": "[why none is stored]",
    "ErrorType": "[error of a sample]",
}
"""The closed enumerations of the vocabulary, as the page names them."""
_VERSIONS: Final = ("v1_1", "v1_2", "v1_3")
"""The conditions files of the original rules."""
_SENTENCES: Final[Mapping[str, str]] = {
    "demoted, original rules": "advisory_builder._PAST_FAILURE",
    "demoted, default rules": "outcome_advice._PAST_FAILURE",
    "blocked without an anti-pattern, original rules": "advisory_builder._WITHHELD",
    "blocked without an anti-pattern, default rules": "outcome_advice._WITHHELD",
}


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    columns = list(head)
    lines = [f"| {' | '.join(map(str, cells))} |" for cells in (columns, *rows)]
    return "\n".join([lines[0], f"|{'---|' * len(columns)}", *lines[1:]])


def _enumerations() -> str:
    rows = []
    for name, meaning in _ENUMERATIONS.items():
        words = (word for word in _words(getattr(vocabulary, name)) if word)
        rows.append((meaning, ", ".join(f"`{word}`" for word in words)))
    return _table(("What", "Values"), rows)


def _words(literal: Any) -> Iterable[str]:
    for word in get_args(literal):
        yield from (word,) if isinstance(word, str) else _words(word)


def _conditions() -> str:
    files = {version: load_conditions(version) for version in _VERSIONS}
    newest = files[_VERSIONS[-1]].conditions
    rows = []
    for name, condition in newest.items():
        flags = [_yaml(getattr(condition, flag)) for flag in FLAG_NAMES]
        held = [version for version, file in files.items() if name in file.conditions]
        for other in (*(files[version] for version in held), load_conditions()):
            assert [_yaml(getattr(other.conditions[name], flag)) for flag in FLAG_NAMES] == flags
        rows.append((f"`{name}`", *flags, ", ".join(held)))
    return _table(("Condition", *(f"`{flag}`" for flag in FLAG_NAMES), "Files"), rows)


def _yaml(value: bool | str) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"'


def _override_profiles() -> str:
    profiles = {name: PipelineSettings(override_profile=name).thresholds for name in ("t0", "t1", "t2")}
    names = list(type(profiles["t0"]).model_fields)
    rows = [
        (f"`{name}`", *(str(getattr(thresholds, key)).lower() for key in names))
        for name, thresholds in profiles.items()
    ]
    return _table(("Profile", *(f"`{name}`" for name in names)), rows)


def _decision_weights() -> str:
    sets = data_of("decision_weights.yaml")["sets"]
    rows = [
        (f"`{key}`", *(held[key] for held in sets)) for key in ("tau", "unsure_from", "unsure_to", "sure", "label_p")
    ]
    rows += [(f"`{name}`", *(held["weights"][name] for held in sets)) for name in sets[0]["weights"]]
    return _table(("", *(f"`{held['name']}`" for held in sets)), rows)


def _principles() -> str:
    rows = [
        (entry.principle_id, entry.risk, entry.action, entry.outcome, entry.expects, entry.text_en)
        for entry in load_catalogue()
    ]
    return _table(("Id", "Risk", "Action", "Outcome", "Expects", "Text (English)"), rows)


def _fixed_sentences() -> str:
    texts = {where: value_of(name) for where, name in _SENTENCES.items()}
    rows = [(where, by_language["en"].strip(), by_language["ko"].strip()) for where, by_language in texts.items()]
    return _table(("Where", "English", "Korean"), rows)


def _prohibitions() -> str:
    return "\n".join(f"{number}. {sentence}." for number, sentence in sorted(ENTRIES.items()))


SPECIFICATION_TABLES: Final[Mapping[str, Callable[[], str]]] = {
    "enumerations": _enumerations,
    "conditions": _conditions,
    "override profiles": _override_profiles,
    "decision weights": _decision_weights,
    "principles": _principles,
    "fixed sentences": _fixed_sentences,
    "prohibitions": _prohibitions,
}
