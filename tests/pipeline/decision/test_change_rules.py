"""The rules file, the laws that no file lifts, and the adoption of one change."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pipeline import builders

from episodic_absa.errors import ConfigError
from episodic_absa.pipeline.decision import (
    SHIPPED_RULES,
    WITNESSES,
    AdoptionRules,
    ProposedChange,
    adopt,
    load_adoption_rules,
)
from episodic_absa.schemas.run_files.change_record import Witness

b: Any = builders
FLIP = ProposedChange("chg_001", "flip", "food", "positive", "negative")
DROP = ProposedChange("chg_001", "drop", "food", "positive")
ADD = ProposedChange("chg_001", "add", "price", None, "positive", b.span_of("price"))
EVERY_KIND = (FLIP, DROP, ADD)
SHIPPED = load_adoption_rules()
# Rules that want everything, so that only the laws refuse.
GREEDY = AdoptionRules.model_validate(
    {
        "form": "weights",
        "reader": SHIPPED.reader,
        "weights": {kind: {"threshold": -100.0} for kind in ("flip", "drop", "add")},
    }
)


def voices(words: str) -> tuple[Witness, ...]:
    """Read `tan+ judge- reader-.95 cj+home`; whoever is not named is silent."""
    named = {}
    for word in words.split():
        sign = "+" if "+" in word else "-"
        who, _, rest = word.partition(sign)
        named[who] = Witness.model_validate(
            {
                "who": who,
                "stance": "for" if sign == "+" else "against",
                "quote": "great" if rest == "home" else "",
                "at_home": rest == "home",
                "p": float(rest) if rest.startswith(".") else None,
            }
        )
    return tuple(named.get(who, Witness(who=who, stance="silent")) for who in WITNESSES)


@pytest.mark.parametrize(
    ("change", "words", "reason"),
    [
        (DROP, "tan+ reader+.8", "adopted"),
        (DROP, "tan+ reader+.8 review- judge-", "adopted"),
        (DROP, "tan+ judge+", "adopted"),
        (DROP, "tan+ review+", "adopted"),
        (DROP, "tan+ cj+", "adopted"),
        (DROP, "tan+ judge+ reader-.6", "score_too_low"),
        (DROP, "judge+ review+", "score_too_low"),
        (DROP, "judge+ reader+.8", "adopted"),
        (DROP, "tan+ validator+", "score_too_low"),
        (DROP, "tan+", "one_witness"),
        (FLIP, "judge+ epm+", "adopted"),
        (FLIP, "judge+ review+", "adopted"),
        (FLIP, "judge+ reader+.6", "adopted"),
        (FLIP, "epm+ cj+", "adopted"),
        (FLIP, "epm+ cj+ reader-.6", "score_too_low"),
        (FLIP, "judge+ epm+ reader-.6", "score_too_low"),
        (FLIP, "judge+", "one_witness"),
        (FLIP, "review+ reader+.8", "no_judge_nor_two_speakers"),
        (ADD, "tan+ reader+.5", "adopted"),
        (ADD, "review+ reader+.5", "adopted"),
        (ADD, "tan+ review+", "score_too_low"),
        (ADD, "judge+ reader+.5", "score_too_low"),
        (ADD, "review+", "one_witness"),
        (DROP, "", "one_witness"),
    ],
)
def test_the_shipped_table_decides(change: Any, words: str, reason: str) -> None:
    decision = adopt(change, voices(words), SHIPPED)
    assert (decision.reason, decision.adopted) == (reason, reason == "adopted")
    assert decision.score == words.count("+") - words.count("-")


@pytest.mark.parametrize("pair", list(combinations(WITNESSES, 2)))
def test_a_flip_needs_the_judge_or_two_speakers_whatever_the_rules_say(pair: tuple[str, str]) -> None:
    allowed = "judge" in pair or set(pair) <= {"epm", "tan", "cj"}
    decision = adopt(FLIP, voices(" ".join(f"{who}+" for who in pair)), GREEDY)
    assert decision.reason == ("adopted" if allowed else "no_judge_nor_two_speakers")


@pytest.mark.parametrize("change", EVERY_KIND)
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("judge+ epm+ reader-.9", "sure_reader_against"),
        ("judge+ epm+ reader-.89", "adopted"),
        ("judge+home epm+ reader-.95", "adopted"),
        ("judge+home epm+ review- reader-.95", "sure_reader_against"),
        ("judge+ epm+ review-home reader-.95", "sure_reader_against"),
        ("judge+ epm+ tan+ cj+ review+ validator+ reader-.9", "sure_reader_against"),
    ],
)
def test_a_sure_reader_is_passed_only_by_unanimous_others_with_a_quote_at_home(
    change: Any, words: str, reason: str
) -> None:
    assert adopt(change, voices(words), GREEDY).reason == reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (FLIP._replace(to_polarity=None), "no_polarity"),
        (ADD._replace(to_polarity=None), "no_polarity"),
        (ADD._replace(to_span=None), "not_in_text"),
        (ADD._replace(to_span=None, to_polarity=None), "not_in_text"),
    ],
)
def test_what_cannot_be_done_is_never_adopted(change: Any, reason: str) -> None:
    everyone = voices(" ".join(f"{who}+" for who in WITNESSES))
    assert adopt(change, everyone, GREEDY)[1:] == (False, reason)


STANCES = st.sampled_from(("for", "against", "silent"))
HEARD = st.tuples(
    *(
        st.builds(
            Witness,
            who=st.just(who),
            stance=STANCES,
            quote=st.sampled_from(("", "great")),
            at_home=st.booleans(),
            p=st.sampled_from((0.2, 0.9, 0.99)) if who == "reader" else st.none(),
        )
        for who in WITNESSES
    )
)


@settings(max_examples=300, deadline=None)
@given(change=st.sampled_from(EVERY_KIND), witnesses=HEARD, rules=st.sampled_from((SHIPPED, GREEDY)))
def test_no_adopted_change_breaks_a_law(change: Any, witnesses: Any, rules: Any) -> None:
    if not adopt(change, witnesses, rules).adopted:
        return
    speaking_for = {witness.who for witness in witnesses if witness.stance == "for"}
    assert len(speaking_for) >= 2
    if change.kind == "flip":
        assert "judge" in speaking_for or len(speaking_for & {"epm", "tan", "cj"}) >= 2
    reader = witnesses[WITNESSES.index("reader")]
    if reader.stance == "against" and reader.p >= 0.9:
        assert [witness.who for witness in witnesses if witness.stance == "against"] == ["reader"]
        assert any(witness.quote and witness.at_home for witness in witnesses if witness.stance == "for")


def test_weights_add_up_and_reach_the_threshold_of_their_kind() -> None:
    drop = {"threshold": 1.0, "start": -0.5, "stances": {"tan": {"for": 1.0}, "judge": {"for": 0.5, "against": -1.0}}}
    rules = AdoptionRules.model_validate({"form": "weights", "reader": SHIPPED.reader, "weights": {"drop": drop}})
    assert adopt(DROP, voices("tan+ judge+"), rules) == (1.0, True, "adopted")
    assert adopt(DROP, voices("tan+ cj+ judge-"), rules) == (-0.5, False, "score_too_low")
    assert adopt(FLIP, voices("epm+ judge+"), rules) == (0.0, False, "score_too_low")


def shipped_content() -> dict[str, Any]:
    content = yaml.safe_load(SHIPPED_RULES.read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


@pytest.mark.parametrize(
    ("update", "key", "words"),
    [
        ({"colour": 1}, "colour", "Extra inputs"),
        ({"form": "vote"}, "form", "'table' or 'weights'"),
        ({"form": "weights"}, None, "weights is empty"),
        ({"table": {"merge": []}}, "table.merge.[key]", "'flip', 'drop', 'add' or 'span'"),
        ({"table": {"flip": [{"all_for": ["oracle"]}]}}, "table.flip.0.all_for.0", "'review'"),
        ({"table": {"flip": [{"none_against": ["reader"]}]}}, "table.flip.0", "needs all_for or any_for"),
        ({"table": {"flip": [{"any_for": ["tan"], "any_for_n": 2}]}}, "table.flip.0", "any_for names 1"),
        ({"table": {"flip": [{"all_for": ["tan"], "weight": 2}]}}, "table.flip.0.weight", "Extra inputs"),
        ({"weights": {"flip": {"start": 1.0}}}, "weights.flip.threshold", "Field required"),
        ({"reader": {"drop_for_below": 0.3}}, "reader.drop_against_from", "Field required"),
        (
            {
                "reader": {
                    "drop_for_below": 0.6,
                    "drop_against_from": 0.5,
                    "add_for_from": 0.5,
                    "add_against_below": 0.1,
                }
            },
            None,
            "drop_for_below must not exceed",
        ),
    ],
)
def test_a_wrong_rules_file_is_refused_with_its_place(
    update: dict[str, Any], key: str | None, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump(shipped_content() | update), encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        load_adoption_rules(path)
    assert (raised.value.path, raised.value.key) == (path, key)
    assert words in str(raised.value)
    assert str(path) in str(raised.value)
    assert "training/adoption.py" in str(raised.value)


@pytest.mark.parametrize("content", ["", "- 1", "form: [", "form: table\nform: table"])
def test_a_file_that_is_no_mapping_or_no_yaml_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"rules\.yaml"):
        load_adoption_rules(path)


def test_a_missing_file_is_refused_and_the_shipped_one_is_read_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        load_adoption_rules(tmp_path / "none.yaml")
    assert load_adoption_rules() is SHIPPED
