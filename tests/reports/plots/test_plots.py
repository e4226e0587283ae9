"""Axes and pictures, each on its own."""

from hypothesis import given
from hypothesis import strategies as st

from episodic_absa.reports.plots import svg
from episodic_absa.reports.plots.axis import Axis
from episodic_absa.reports.plots.growth_plot import thinned


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
