"""docs/metrics.md defines every metric, and no other."""

from typing import get_args

from tests.docs.metrics_page import PAGE, groups_on, with_tables

from episodic_absa.metrics.metric_value import MetricGroup


def test_the_tables_are_those_of_the_definitions() -> None:
    page = PAGE.read_text("utf-8")
    assert set(groups_on(page)) == {*get_args(MetricGroup), "sample"}
    assert with_tables(page) == page, "rewrite the tables: python tests/docs/metrics_page.py"
