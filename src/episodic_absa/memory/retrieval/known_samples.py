"""What a store knows of analysed samples besides episodes: which they are, and what people said of their results."""

from collections.abc import Iterator, Mapping

from episodic_absa.memory.columns.values_by_source import HeldValues, ValuesBySource
from episodic_absa.schemas.memory_v1_2 import TallyV1_2, VerdictV1_2
from episodic_absa.vocabulary import Verdict


class KnownSamples:
    """The tallies and verdicts of a store, by the uid of their sample.

    Args:
        tallies: where the tallies of a sample are found again; by default in memory.
        verdicts: the same for verdicts.

    Example:
        >>> samples = KnownSamples()
        >>> samples.add_verdict(VerdictV1_2(source_id="r1", verdict="wrong"))
        >>> samples.add_verdict(VerdictV1_2(source_id="r1", verdict="right"))
        >>> samples.verdicts_on("r1")
        {None: 'right'}
    """

    def __init__(
        self,
        tallies: ValuesBySource[TallyV1_2] | None = None,
        verdicts: ValuesBySource[VerdictV1_2] | None = None,
    ) -> None:
        self._tallies: ValuesBySource[TallyV1_2] = HeldValues() if tallies is None else tallies
        self._verdicts: ValuesBySource[VerdictV1_2] = HeldValues() if verdicts is None else verdicts

    def add_tally(self, tally: TallyV1_2) -> None:
        """Take the tally of a sample, unless it has one already."""
        if not self.is_tallied(tally.source_id):
            self._tallies.add(tally.source_id, tally)

    def add_verdict(self, verdict: VerdictV1_2) -> None:
        """Take a verdict; it replaces an earlier one about the same sample and aspect."""
        self._verdicts.add(verdict.source_id, verdict)

    def is_tallied(self, source_id: str) -> bool:
        """Return whether the store holds a tally of the sample."""
        return bool(self._tallies.of(source_id))

    def tallied(self) -> Iterator[str]:
        """Yield the uid of every sample with a tally once, in store order."""
        return iter(dict.fromkeys(self._tallies))

    def verdicts_on(self, source_id: str) -> Mapping[str | None, Verdict]:
        """Return the last verdict per aspect on the result of a sample; the key None is the whole result."""
        return {verdict.aspect: verdict.verdict for verdict in self._verdicts.of(source_id)}
