"""Conditions as data: the shipped files, their reader, and the choice that an experiment makes."""

from episodic_absa.conditions.conditions_file import (
    DEFAULT_COMPARISONS,
    FLAG_NAMES,
    ConditionsFile,
    ConditionsVersion,
    load_condition,
    load_conditions,
    resolve_conditions,
)

__all__ = [
    "DEFAULT_COMPARISONS",
    "FLAG_NAMES",
    "ConditionsFile",
    "ConditionsVersion",
    "load_condition",
    "load_conditions",
    "resolve_conditions",
]
