"""Reads datasets and gold files, and checks them."""

from episodic_absa.datasets.dataset_checks import (
    count_invalid_gold,
    find_shared_texts,
    majority_polarity,
    require_unique_uids,
)
from episodic_absa.datasets.dataset_loading import InputFormat, load_split
from episodic_absa.datasets.gold_columns import GoldColumns
from episodic_absa.datasets.gold_files import Annotation, attach_gold, load_annotations, load_gold

__all__ = [
    "Annotation",
    "GoldColumns",
    "InputFormat",
    "attach_gold",
    "count_invalid_gold",
    "find_shared_texts",
    "load_annotations",
    "load_gold",
    "load_split",
    "majority_polarity",
    "require_unique_uids",
]
