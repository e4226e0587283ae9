"""Numbers as a page shows them."""

import pytest

from episodic_absa.reports import number_format


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (number_format.plain(None), "–"),
        (number_format.plain(-0.1234), "−0.123"),
        (number_format.plain(-0.0001), "0.000"),
        (number_format.plain(12345.6, 1), "12,345.6"),
        (number_format.signed(0.5), "+0.500"),
        (number_format.signed(0.0001), "+0.00010"),
        (number_format.signed(-0.0004), "−0.00040"),
        (number_format.signed(0.0), "0"),
        (number_format.p_value(0.0499), ".0499"),
        (number_format.signed(-2), "−2.000"),
        (number_format.signed(2331.4354), "+2,331.4"),
        (number_format.signed(-314.39, 2), "−314.39"),
        (number_format.amount(1234), "1,234"),
        (number_format.amount(2.5), "2.50"),
        (number_format.amount(0.00123), "0.0012"),
        (number_format.p_value(0.0004), "< .001"),
        (number_format.p_value(0.0312), ".031"),
        (number_format.p_value(1.0), "1.000"),
        (number_format.percent(1, 0), "–"),
    ],
)
def test_numbers_read_as_one_writes_them(shown: str, expected: str) -> None:
    assert shown == expected
