"""Two conditions compared within strata of the reviews: by language, domain, structure, risk, principle or quarter."""

from episodic_absa.analysis.strata.grid_strata import (
    STRATA_TABLE,
    grid_stratum_rows,
    read_structures,
    strata_of,
    strata_text,
)
from episodic_absa.analysis.strata.membership import PairKey, key_of
from episodic_absa.analysis.strata.stratum_table import (
    FEWEST_CLAIMED,
    SMALLEST_STRATUM,
    StratumRow,
    interaction_word,
    stratum_rows,
    value_metric,
)

__all__ = [
    "FEWEST_CLAIMED",
    "SMALLEST_STRATUM",
    "STRATA_TABLE",
    "PairKey",
    "StratumRow",
    "grid_stratum_rows",
    "interaction_word",
    "key_of",
    "read_structures",
    "strata_of",
    "strata_text",
    "stratum_rows",
    "value_metric",
]
