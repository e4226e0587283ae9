"""A pytest plugin: property tests use the same examples each time and stop at the first one that fails.

Shrinking a counterexample of a mutant takes minutes and proves nothing more.
"""

from hypothesis import Phase, settings

settings.register_profile(
    "first_counterexample",
    phases=(Phase.explicit, Phase.generate),
    derandomize=True,
    database=None,
    report_multiple_bugs=False,
)
settings.load_profile("first_counterexample")
