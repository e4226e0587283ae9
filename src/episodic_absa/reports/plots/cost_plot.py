"""Quality over cost: one point per condition with its interval, Stage1 as a ring at the cost of its own calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from markupsafe import Markup

from episodic_absa.reports import number_format
from episodic_absa.reports.bilingual import Bilingual, Language
from episodic_absa.reports.plots import svg
from episodic_absa.reports.plots.axis import WIDTH, Axis, shortened, tick_text
from episodic_absa.reports.tables.table import Score

_HEIGHT: Final = 250
_LEFT: Final = 40
_RIGHT: Final = 100
_TOP: Final = 10
_BOTTOM: Final = 42
_LABEL_HEIGHT: Final = 14
_SIDE_STEP: Final = 7
"""Between points of equal cost, which would hide each other."""
_LOG_FROM: Final = 8
"""The axis of costs is logarithmic if the highest is this many times the lowest."""
_LEAST_HEIGHT: Final = 0.1
"""The axis of scores covers at least this much, so that a tiny difference does not look large."""
Axes = Literal["tokens", "calls"]
AXIS_WORDS: Final[Mapping[Axes, Bilingual]] = {
    "tokens": Bilingual(en="tokens per sample", ko="샘플당 토큰 수"),
    "calls": Bilingual(en="calls per sample", ko="샘플당 호출 수"),
}


class CostOfSample(NamedTuple):
    """What an analysis takes: means per successful sample."""

    calls: float
    tokens_in: float
    tokens_out: float
    cost_usd: float | None
    """None if a price is unknown."""

    @property
    def tokens(self) -> float:
        """Tokens in both directions."""
        return self.tokens_in + self.tokens_out


class CostPoint(NamedTuple):
    """One condition: what its result is worth and what it takes."""

    condition: str
    colour: int
    reviews: int
    """The n of the scores: successful reviews with explicit gold."""
    cost: CostOfSample
    micro: Score
    macro: Score
    stage1_cost: CostOfSample
    stage1_micro: float | None
    stage1_macro: float | None


@dataclass(frozen=True)
class _Mark:
    """One condition, placed on the picture."""

    point: CostPoint
    x: float
    y: float
    label_y: float
    ends: tuple[float, float] | None
    """The ends of the interval."""
    before: tuple[float, float] | None
    """The place of Stage1."""


def cost_plot(conditions: Sequence[CostPoint], score: Literal["micro", "macro"]) -> Markup:
    """Draw one score of every condition over what a sample costs: tokens, or calls if no condition uses tokens."""
    points = [point for point in conditions if _score(point, score).value is not None]
    axis: Axes = "tokens" if any(point.cost.tokens for point in conditions) else "calls"
    across, up = _cost_axis(axis, points), _score_axis(points, score)
    marks = _with_labels_apart(_beside_each_other([_placed(point, axis, score, across, up) for point in points]))
    parts: list[Markup] = []
    for tick in up.ticks(5):
        parts.append(svg.line(_LEFT, up.at(tick), WIDTH - _RIGHT, up.at(tick), "grid"))
        parts.append(svg.text(_LEFT - 6, up.at(tick) + 4, tick_text(tick), "tick", "end"))
    for tick in across.ticks(4):
        parts.append(svg.line(across.at(tick), _HEIGHT - _BOTTOM, across.at(tick), _HEIGHT - _BOTTOM + 4, "zero"))
        parts.append(svg.text(across.at(tick), _HEIGHT - _BOTTOM + 16, tick_text(tick), "tick", "middle"))
    parts.append(svg.line(_LEFT, _HEIGHT - _BOTTOM, WIDTH - _RIGHT, _HEIGHT - _BOTTOM, "zero"))
    parts.append(svg.text((_LEFT + WIDTH - _RIGHT) / 2, _HEIGHT - 6, _axis_title(axis, across), "tick", "middle"))
    # Labels last, so that no line crosses them.
    parts += [_before(mark, mark.before) for mark in marks if mark.before is not None]
    parts += [_drawn(mark) for mark in marks]
    title = Bilingual(en=f"Quality over cost, {score} F1", ko=f"비용 대비 품질, {score} F1")
    return svg.figure(WIDTH, _HEIGHT, title, *parts, description=_in_words(axis, points, score))


def _score(point: CostPoint, score: Literal["micro", "macro"]) -> Score:
    return point.micro if score == "micro" else point.macro


def _stage1(point: CostPoint, score: Literal["micro", "macro"]) -> float | None:
    return point.stage1_micro if score == "micro" else point.stage1_macro


def _cost(axis: Axes, cost: CostOfSample) -> float:
    return cost.tokens if axis == "tokens" else cost.calls


def _cost_axis(axis: Axes, points: Sequence[CostPoint]) -> Axis:
    costs = [_cost(axis, cost) for point in points for cost in (point.cost, point.stage1_cost)]
    known = [cost for cost in costs if cost > 0]
    lowest, highest = min(known, default=1.0), max(known, default=1.0)
    if highest >= _LOG_FROM * lowest and len(known) == len(costs):
        return Axis(lowest / 1.5, highest * 1.8, _LEFT, WIDTH - _RIGHT, is_log=True)
    return Axis(0.0, highest * 1.3, _LEFT, WIDTH - _RIGHT)


def _score_axis(points: Sequence[CostPoint], score: Literal["micro", "macro"]) -> Axis:
    shown = [
        value
        for point in points
        for view in (_score(point, score),)
        for value in (view.value, view.low, view.high, _stage1(point, score))
        if value is not None
    ]
    low, high = min(shown), max(shown)
    margin = max(0.1 * (high - low), (_LEAST_HEIGHT - (high - low)) / 2)
    return Axis(max(0.0, low - margin), min(1.0, high + margin), _HEIGHT - _BOTTOM, _TOP)


def _placed(point: CostPoint, axis: Axes, score: Literal["micro", "macro"], across: Axis, up: Axis) -> _Mark:
    shown = _score(point, score)
    x, y = across.at(_cost(axis, point.cost)), up.at(shown.value or 0.0)
    stage1 = _stage1(point, score)
    before = None
    if stage1 is not None:
        before = (across.at(_cost(axis, point.stage1_cost)), up.at(stage1))
    is_same = before is not None and abs(before[0] - x) < 1 and abs(before[1] - y) < 1
    ends = None if shown.low is None or shown.high is None else (up.at(shown.low), up.at(shown.high))
    return _Mark(point, x, y, y, ends, None if is_same else before)


def _beside_each_other(marks: Sequence[_Mark]) -> list[_Mark]:
    """Move points of nearly equal cost a few units apart."""
    moved: list[_Mark] = []
    left = sorted(marks, key=lambda mark: mark.x)
    while left:
        group = [mark for mark in left if mark.x - left[0].x < _SIDE_STEP]
        left = left[len(group) :]
        first = -(len(group) - 1) / 2
        moved += [replace(mark, x=mark.x + (first + place) * _SIDE_STEP) for place, mark in enumerate(group)]
    return moved


def _with_labels_apart(marks: Sequence[_Mark]) -> list[_Mark]:
    """Spread the labels in their column at the right, in the order of the points."""
    ordered = sorted(marks, key=lambda mark: (mark.y, -mark.x))
    labels: list[float] = []
    for mark in ordered:
        labels.append(max(mark.y, labels[-1] + _LABEL_HEIGHT if labels else _TOP + 4.0))
    for place in range(len(labels)):
        # What would stand below the picture moves up, and those above it as far as they must.
        labels[place] = min(labels[place], _HEIGHT - _BOTTOM - (len(labels) - 1 - place) * _LABEL_HEIGHT)
    return [replace(mark, label_y=label) for mark, label in zip(ordered, labels, strict=True)]


def _before(mark: _Mark, place: tuple[float, float]) -> Markup:
    parts = [
        svg.line(*place, mark.x, mark.y, "rise"),
        svg.element("circle", cx=place[0], cy=place[1], r=3.5, class_="ring faint"),
    ]
    return svg.group(parts, class_=f"c{mark.point.colour}")


def _drawn(mark: _Mark) -> Markup:
    parts = [svg.line(mark.x + 5, mark.y, WIDTH - _RIGHT + 4, mark.label_y, "leader")]
    if mark.ends is not None:
        parts.append(svg.line(mark.x, mark.ends[0], mark.x, mark.ends[1], "whisker"))
        parts += [svg.line(mark.x - 3, end, mark.x + 3, end, "whisker") for end in mark.ends]
    parts.append(svg.element("circle", cx=mark.x, cy=mark.y, r=4, class_="dot"))
    parts.append(svg.text(WIDTH - _RIGHT + 7, mark.label_y + 4, shortened(mark.point.condition), "own-colour"))
    return svg.group(parts, class_=f"c{mark.point.colour}")


def _axis_title(axis: Axes, across: Axis) -> Bilingual:
    words = AXIS_WORDS[axis]
    if not across.is_log:
        return words
    return Bilingual(en=f"{words.en} (log scale)", ko=f"{words.ko} (로그 눈금)")


def _in_words(axis: Axes, points: Sequence[CostPoint], score: Literal["micro", "macro"]) -> Bilingual:
    def described(point: CostPoint, language: Language) -> str:
        shown, unit = _score(point, score), getattr(AXIS_WORDS[axis], language)
        interval = f"{svg.INTERVAL[language]} {number_format.interval(shown.low, shown.high)}"
        cost = number_format.amount(round(_cost(axis, point.cost), 2))
        return f"{point.condition}: {number_format.plain(shown.value)} ({interval}), {unit} {cost}"

    return svg.in_words(points, described)
