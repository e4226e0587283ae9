"""certificate.json: whether probes can read gold, identity or text out of what memory stores and shows."""

from typing import Annotated, Literal

from pydantic import Field

from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel, Score

ProbeTarget = Literal["gold_polarity", "identity", "text"]
ProbeSource = Literal["advisories_shown", "advisories_passed_on", "store"]
ProbeScope = Literal["allowed", "beyond"]
ProbeVerdict = Literal["not_distinguishable", "distinguishable", "too_few"]


class ProbeResult(FrozenModel):
    """What one probe reaches, beside chance."""

    target: ProbeTarget
    """What the probe tries to find out about a review."""
    source: ProbeSource
    """What it reads: advisories shown to the review, advisories from its episodes to others, or its store lines."""
    scope: ProbeScope
    """`allowed`: with what memory may hold (terms, predictions, signature). `beyond`: without it, or held equal."""
    n: Count
    """Reviews that chance can confuse with another one."""
    figure: Score | None = None
    """gold_polarity: share predicted right. identity: share matched with its own text. text: share of the words that
    stand in its own text. None if there are too few reviews."""
    low: Score | None = None
    """The 95 % interval over reviews; None if all reviews are equal."""
    high: Score | None = None
    chance: Score | None = None
    """The mean figure with shuffled answers."""
    noticed_from: Score | None = None
    """The 99 % point of the shuffled figures: a leak that lifts the figure above it is noticed."""
    p_value: Score | None = None
    p_holm: Score | None = None
    """After Holm's correction over the probes `beyond`; None for `allowed`."""
    control: Flag | None = None
    """Whether the probe finds a leak that is planted in a copy of every review; None for `allowed`."""
    verdict: ProbeVerdict

    @property
    def is_leak(self) -> bool:
        """Whether memory tells more than it may."""
        return self.scope == "beyond" and self.verdict == "distinguishable"


class Certificate(FrozenModel):
    """The results of all probes over one run."""

    certificate_version: Literal[1] = 1
    package_version: str
    """The version whose probes these are; another one may probe otherwise."""
    data_sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """Of all traces, scorecards and stores that the probes read."""
    alpha: Score
    """A p below it is distinguishable from chance."""
    shuffles: Count
    reviews_n: Count
    """Reviews of the run, or an evenly spaced subset of them."""
    probes: tuple[ProbeResult, ...]

    @property
    def leaks(self) -> tuple[ProbeResult, ...]:
        """The probes by which memory tells more than it may."""
        return tuple(probe for probe in self.probes if probe.is_leak)

    @property
    def undecided(self) -> tuple[ProbeResult, ...]:
        """The probes beyond the allowed that had too few reviews."""
        return tuple(probe for probe in self.probes if probe.scope == "beyond" and probe.verdict == "too_few")
