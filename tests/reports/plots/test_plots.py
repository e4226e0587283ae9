"""Axes and pictures, each on its own."""

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from episodic_absa.reports.plots import Axis, CostOfSample, CostPoint, cost_plot, svg, thinned
from episodic_absa.reports.tables import Score


@given(low=st.floats(-1e6, 1e6), size=st.floats(1e-3, 1e6), value=st.floats(-1e7, 1e7), is_log=st.booleans())
def test_every_value_is_drawn_within_the_axis(low: float, size: float, value: float, is_log: bool) -> None:
    low = abs(low) + 1e-3 if is_log else low
    axis = Axis(low, low + size, 10, 90, is_log=is_log)
    assert 10 <= axis.at(value) <= 90
    assert all(low - 1e-6 <= tick <= low + size + 1e-6 or abs(tick) < 1e-6 for tick in axis.ticks())
    assert len(axis.ticks()) < 12


def test_markup_in_a_label_stays_a_label() -> None:
    drawn = svg.text(0, 0, "<script>", 'a"b')
    assert drawn == '<text x="0" y="0" class="a&#34;b">&lt;script&gt;</text>'


@given(st.integers(1, 5000))
def test_long_curves_keep_their_ends(n: int) -> None:
    points = tuple((place, float(place)) for place in range(n))
    kept = thinned(points)
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert len(kept) <= min(n, 120)


def cost_point(name: str, tokens: float, score: float) -> CostPoint:
    cost = CostOfSample(calls=tokens / 300, tokens_in=tokens, tokens_out=0, cost_usd=None)
    view = Score(score, score - 0.05, score + 0.05)
    stage1 = CostOfSample(calls=1, tokens_in=300, tokens_out=0, cost_usd=None)
    return CostPoint(
        condition=name,
        colour=0,
        reviews=9,
        cost=cost,
        micro=view,
        macro=view,
        stage1_cost=stage1,
        stage1_micro=0.5,
        stage1_macro=0.5,
    )


@given(st.lists(st.tuples(st.sampled_from([300.0, 900.0, 9000.0]), st.floats(0.1, 0.9)), min_size=1, max_size=12))
def test_labels_of_conditions_never_cover_each_other_and_stay_in_the_picture(at: list[tuple[float, float]]) -> None:
    points = tuple(cost_point(f"C{place}", tokens, score) for place, (tokens, score) in enumerate(at))
    drawn = cost_plot(points, "micro")
    labels = sorted(float(y) for y in re.findall(r'y="([0-9.]+)" class="own-colour"', drawn))
    assert len(labels) == len(at)
    assert all(below - above >= 13.9 for above, below in pairwise(labels))
    assert labels[0] > 0
    assert labels[-1] < 250


def test_costs_far_apart_stand_on_a_log_scale_and_calls_on_a_plain_one() -> None:
    points = (cost_point("one_call", 300, 0.55), cost_point("full", 9000, 0.6))
    assert "tokens per sample (log scale)" in cost_plot(points, "macro")
    near = (cost_point("full", 0, 0.6),)
    assert "calls per sample</text>" in cost_plot(near, "macro")
