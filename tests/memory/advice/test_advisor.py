"""Coins and draws are fixed by ids and uniform; what an overlay names is opened or refused."""

import json
from collections import Counter
from pathlib import Path

import pytest

from episodic_absa.conditions import load_condition
from episodic_absa.errors import ConfigError
from episodic_absa.memory import EpisodicOrchestrator, MemoryStore
from episodic_absa.memory.advice.advisor import Offer
from episodic_absa.memory.advice.chance import coin_value, drawn_places
from episodic_absa.memory.advice.opened_advice import load_catalogue_overlay
from episodic_absa.schemas.overlays import AdviceOverlay


def test_a_coin_depends_on_uid_and_principle_alone_and_is_fair() -> None:
    assert coin_value("review-1", "P-NEG-01") == pytest.approx(0.6414582964530549)
    assert coin_value("review-1", "P-NEG-02") != coin_value("review-1", "P-NEG-01") != coin_value("r", "P-NEG-01")
    withheld = [coin_value(f"review-{number}", "P-NEG-01") < 0.5 for number in range(2000)]
    assert 900 < sum(withheld) < 1100


def test_draws_are_without_replacement_uniform_and_fixed_by_uid() -> None:
    assert sorted(drawn_places("review-1", 50)) == list(range(50))
    assert list(drawn_places("review-1", 50)) == list(drawn_places("review-1", 50)) != list(drawn_places("r", 50))
    assert list(drawn_places("review-1", 0)) == []
    first = Counter(next(drawn_places(f"review-{number}", 5)) for number in range(2000))
    assert all(330 < times < 470 for times in first.values())
    # A huge store costs no more than a small one: only what is consumed is drawn.
    assert 0 <= next(drawn_places("review-1", 10**12)) < 10**12


def test_an_offer_without_a_principle_keeps_the_warnings_of_others() -> None:
    offer = Offer(warnings=("a", "b"), warning_principles=("P-NEG-01", "P-CON-01"))
    assert offer.without({"P-NEG-01"}).warnings == ("b",)
    assert offer.without({"P-IRO-01"}) is offer


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("[P-NEG-01]", "a mapping with the key retired"),
        ('{"withdrawn": []}', "a mapping with the key retired"),
        ('{"retired": [1]}', "a mapping with the key retired"),
        ('{"retired": ["F-TARGET"]}', "F-TARGET, which is no principle of the catalogue; correct or remove it"),
        ('{"retired": ["P-XXX-01"]}', "P-XXX-01, which is no principle"),
        (None, "cannot read"),
    ],
)
def test_a_catalogue_overlay_that_is_none_is_refused(tmp_path: Path, content: str | None, named: str) -> None:
    if content is not None:
        (tmp_path / "retired.yaml").write_text(content, "utf-8")
    with pytest.raises(ConfigError, match=named):
        load_catalogue_overlay(tmp_path / "retired.yaml")


@pytest.mark.parametrize(
    ("overlay", "named"),
    [
        (AdviceOverlay(source="donor", store=Path("none.jsonl")), "advice.store: .*none.jsonl does not exist"),
        (
            AdviceOverlay.model_validate({"from": "donor", "store": "postgresql://db/absa"}),
            r"address of a database.* name a \.jsonl file",
        ),
        (AdviceOverlay(source="constant", principle="P-XXX-01"), "P-XXX-01 is no principle of the catalogue; choose"),
        (
            AdviceOverlay(source="constant", principle="P-NEG-01", catalogue=Path("retired.json")),
            "P-NEG-01 is retired by advice.catalogue",
        ),
    ],
)
def test_what_an_overlay_names_must_exist(tmp_path: Path, overlay: AdviceOverlay, named: str) -> None:
    (tmp_path / "retired.json").write_text(json.dumps({"retired": ["P-NEG-01"]}), "utf-8")
    condition = load_condition("C2").model_copy(update={"advice": overlay})
    with MemoryStore(tmp_path / "store.jsonl") as store, pytest.raises(ConfigError, match=named):
        EpisodicOrchestrator(condition, store, root=tmp_path)
