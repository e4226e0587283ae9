"""docs/security.md names a proof for every promise, and the proofs exist."""

import re
from pathlib import Path

from episodic_absa.contrib.drill.hostile_reviews import load_reviews

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def test_every_promise_has_a_proof_that_exists() -> None:
    _, _, table = PAGE.partition("| Promise | Proof |\n|---|---|\n")
    proofs = [line.rpartition(" | ")[2] for line in table.partition("\n\n")[0].splitlines()]
    assert len(proofs) >= 12
    assert [proof for proof in proofs if "`" not in proof] == []
    named = set(re.findall(r"`(tests/[\w/.]+)`", PAGE))
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_the_page_says_how_many_hostile_reviews_are_shipped() -> None:
    assert f"{len(load_reviews().hostile)} hostile reviews" in PAGE
