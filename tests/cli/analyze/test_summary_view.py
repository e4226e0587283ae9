"""The summary in a terminal of 80 columns."""

import io

from rich.console import Console
from tests.reports.summary.review_making import hostile_reviews, make_review

from episodic_absa.cli.analyze.summary_view import summary_tables
from episodic_absa.reports.summary import Summary, summarise


def printed(summary: Summary) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=80, highlight=False).print(summary_tables(summary))
    return stream.getvalue().splitlines()


def test_the_tables_fit_80_columns_and_every_share_has_its_n() -> None:
    reviews = [
        make_review(
            "rooms 좋아요", ("rooms", "positive"), date=f"2026-{month:02}-03", product="A" if month % 2 else "나"
        )
        for month in range(1, 13)
    ]
    reviews += [make_review("room bad", ("room", "negative"), date="2026-05-05", product="A"), *hostile_reviews()]
    lines = printed(summarise(reviews, failed_n=1))
    assert max(len(line.rstrip()) for line in lines) <= 80
    text = "\n".join(lines)
    assert "19 reviews, 18 with an opinion (100 % of 18 analysed), 1 failed" in text
    assert any(line.split()[:6] == ["rooms", "1", "12", "0", "13", "92"] for line in lines)
    assert "grouped: rooms, room" in text
    assert "2026-05" in text
    assert "By 'product'" in text
    assert not set("\x00\x1b\u202e") & set(text)


def test_a_table_without_opinions_says_so() -> None:
    assert printed(summarise([make_review("It came on Monday.")]))[-1] == "No opinion about an aspect was found."
