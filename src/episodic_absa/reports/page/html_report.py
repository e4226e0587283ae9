"""Renders a report: a single HTML file that loads nothing and runs only its own script."""

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from episodic_absa.reports import number_format
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.data.report_data import ReportData
from episodic_absa.reports.page.embedded_data import packed
from episodic_absa.reports.page.explorer_blocks import build_blocks
from episodic_absa.reports.saved_files import export_texts
from episodic_absa.reports.tables.table import file_stem, shown_text
from episodic_absa.serialization.canonical_json import canonical_json

if TYPE_CHECKING:
    from jinja2 import Environment

_SCRIPTS: Final = (
    "dom.js",
    "words.js",
    "page.js",
    "save_file.js",
    "sample_data.js",
    "exports.js",
    "sample_filters.js",
    "sample_view.js",
    "sample_page.js",
    "explorer.js",
    "start.js",
)
WITHOUT_TEXT: Final = '<meta name="review-text" content="left out">'
"""The mark in the head of a page without review text."""
_INTERVAL: Final = re.compile(r"(\[[^\],]+), ")
_BOUND: Final = (" = ", " % ", "CI [", "Holm p")
_VERIFIED_BEFORE: Final = Bilingual(
    en="verified before the files changed; run episodic-absa verify again",
    ko="파일이 변경되기 전에 검증했습니다. episodic-absa verify를 다시 실행하십시오.",
)
_METHODS: Final = {
    "percentile": Bilingual(
        en="Interval: percentile bootstrap over reviews.", ko="구간: 리뷰를 재표집한 백분위 부트스트랩입니다."
    ),
    "studentised": Bilingual(
        en="Interval: studentised bootstrap over reviews, because they are few or their differences are skewed.",
        ko="구간: 리뷰가 적거나 차이의 분포가 치우쳐 스튜던트화 부트스트랩을 사용했습니다.",
    ),
    "crossed": Bilingual(
        en="Interval: bootstrap over reviews and orders, because the order changes results.",
        ko="구간: 순서가 결과를 바꾸므로 리뷰와 순서를 함께 재표집한 부트스트랩입니다.",
    ),
}
_QUESTIONS: Final = (
    (
        "rq1",
        Bilingual(en="RQ1: structural errors", ko="RQ1: 구조 오류"),
        Bilingual(
            en="How often are results structurally wrong, and how much risk remains?",
            ko="결과가 구조적으로 틀린 샘플은 얼마나 되며, 위험은 얼마나 남습니까?",
        ),
    ),
    (
        "rq2",
        Bilingual(en="RQ2: stability", ko="RQ2: 안정성"),
        Bilingual(
            en="Do repeated trials agree? Seeds that change neither order nor answers count as one trial.",
            ko="반복 시행의 결과가 서로 일치합니까? 순서도 답변도 바꾸지 않는 시드는 한 번의 시행으로 셉니다.",
        ),
    ),
    (
        "rq3",
        Bilingual(en="RQ3: process", ko="RQ3: 과정"),
        Bilingual(
            en="What did debate, Stage2 and override do? These are process metrics: they do not say that a result is "
            "right.",
            ko="토론, Stage2, 오버라이드가 무엇을 했습니까? 모두 과정 지표이며 결과가 옳다는 뜻은 아닙니다.",
        ),
    ),
)


def render_report(data: ReportData) -> str:
    """Return the HTML page of a report; equal data give equal bytes."""
    css, script = style_sheet(), page_script()
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            data=data,
            questions=_QUESTIONS,
            verified_before=_VERIFIED_BEFORE,
            methods=_METHODS,
            text_mark="" if data.with_text else Markup(WITHOUT_TEXT),  # noqa: S704 - a constant
            files=packed(canonical_json(export_texts(data))),
            blocks=build_blocks(data.explorer, with_text=data.with_text),
            css=Markup(css),  # noqa: S704 - a file of this package
            script=Markup(script),  # noqa: S704 - files of this package
            csp=content_security_policy(css, script),
        )
    )


def content_security_policy(css: str, script: str) -> str:
    """Return a policy that allows this style sheet and this script only, and no network access."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(css)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def style_sheet() -> str:
    """Return the style sheet of the page."""
    return _asset("report.css")


@cache
def page_script() -> str:
    """Return the script of the page: its parts in order, inside one function that keeps names out of the window."""
    body = "\n".join(_asset(name) for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{body}}})();\n'


def _asset(name: str) -> str:
    return (files("episodic_absa.reports") / "assets" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _environment() -> "Environment":
    # Imported here to keep `--help` fast: it needs no template engine.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("episodic_absa.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(
        plain=number_format.plain,
        amount=number_format.amount,
        p_value=number_format.p_value,
        percent=number_format.percent,
        shown=lambda value, is_count: number_format.metric(value, is_count=is_count),
        stem=file_stem,
        text=shown_text,
    )
    environment.filters["unbroken"] = _unbroken
    return environment


def _unbroken(sentence: str) -> str:
    """Return the sentence with no-break spaces inside `p = 0.031` and `95 % CI [+0.005, +0.045]`."""
    sentence = _INTERVAL.sub("\\1,\u00a0", sentence)
    for bound in _BOUND:
        sentence = sentence.replace(bound, bound.replace(" ", "\u00a0"))
    return sentence
