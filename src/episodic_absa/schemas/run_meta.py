"""run_meta.json: when a cell ran and what speculation cost. Beside traces.jsonl the only file that names a time."""

from episodic_absa.schemas.frozen_model import Count, FrozenModel
from episodic_absa.vocabulary import MemoryMode


class Speculation(FrozenModel):
    """What running ahead of the memory cost."""

    redone_samples: Count
    wasted_calls: Count


class RunMeta(FrozenModel):
    """The last invocation that ran samples of the cell."""

    condition: str
    memory_mode: MemoryMode
    started_at: str
    ended_at: str
    seconds: float
    speculation: Speculation
