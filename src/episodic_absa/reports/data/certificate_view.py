"""The leakage certificate in the words of a page: a row per probe."""

from typing import Final, Literal

from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.schemas.run_files.check_result import Certificate, ProbeResult

_TARGETS: Final = {
    "gold_polarity": Bilingual(en="gold polarity", ko="정답 극성"),
    "identity": Bilingual(en="which review it is", ko="어느 리뷰인지"),
    "text": Bilingual(en="words of the review", ko="리뷰의 단어"),
}
_SOURCES: Final = {
    "advisories_shown": Bilingual(en="advisories shown to it", ko="그 리뷰에 보여 준 조언"),
    "advisories_passed_on": Bilingual(en="advisories from its episodes", ko="그 리뷰의 에피소드에서 나온 조언"),
    "store": Bilingual(en="its lines of the store", ko="저장소에 있는 그 리뷰의 줄"),
}
_ALLOWED: Final = {
    ("gold_polarity", "advisories_shown"): Bilingual(en="signature", ko="시그니처"),
    ("gold_polarity", "store"): Bilingual(en="predictions", ko="예측"),
}
_TERMS: Final = Bilingual(en="terms", ko="용어")
_VERDICTS: Final = {
    "not_distinguishable": Bilingual(en="not distinguishable from chance", ko="우연과 구별되지 않음"),
    "distinguishable": Bilingual(en="distinguishable from chance: a leak", ko="우연과 구별됨: 누출"),
    "too_few": Bilingual(en="too few samples", ko="샘플이 너무 적음"),
}
_DISTINGUISHABLE_ALLOWED: Final = Bilingual(en="distinguishable, as allowed", ko="구별됨(허용된 정보)")


class ProbeRow(FrozenModel):
    """One probe of the certificate."""

    target: Bilingual
    source: Bilingual
    scope: Bilingual
    n: int
    figure: float | None
    low: float | None
    high: float | None
    chance: float | None
    noticed_from: float | None
    verdict: Bilingual
    state: Literal["pass", "fail", "none"]


class CertificateView(FrozenModel):
    """The certificate of a page."""

    summary: Bilingual
    has_leak: bool
    rows: tuple[ProbeRow, ...]


def certificate_view(certificate: Certificate) -> CertificateView:
    """Return a certificate in words."""
    return CertificateView(
        summary=_summary(certificate),
        has_leak=bool(certificate.leaks),
        rows=tuple(map(_row, certificate.probes)),
    )


def _summary(certificate: Certificate) -> Bilingual:
    leaks, undecided = len(certificate.leaks), len(certificate.undecided)
    tested = sum(probe.scope == "beyond" for probe in certificate.probes)
    if leaks:
        return Bilingual(
            en=f"{leaks} of {tested} probes tell more about a review than memory may hold.",
            ko=f"프로브 {tested}개 가운데 {leaks}개가 메모리에 허용된 것보다 많은 정보를 알아냈습니다.",
        )
    if undecided == tested:
        return Bilingual(
            en=f"Nothing is certified: all {tested} probes have too few samples.",
            ko=f"인증할 수 없습니다. 프로브 {tested}개 모두 샘플이 너무 적습니다.",
        )
    few_en = f"; too few samples for {undecided}" if undecided else ""
    few_ko = f" {undecided}개는 샘플이 너무 적습니다." if undecided else ""
    return Bilingual(
        en=f"{tested - undecided} of {tested} probes find nothing beyond what memory may hold{few_en}.",
        ko=f"프로브 {tested}개 가운데 {tested - undecided}개가 허용된 것 외에는 아무것도 찾지 못했습니다.{few_ko}",
    )


def _row(probe: ProbeResult) -> ProbeRow:
    allowed = _ALLOWED.get((probe.target, probe.source), _TERMS)
    is_beyond = probe.scope == "beyond"
    verdict = _VERDICTS[probe.verdict]
    if not is_beyond and probe.verdict == "distinguishable":
        verdict = _DISTINGUISHABLE_ALLOWED
    is_tested = is_beyond and probe.verdict != "too_few"
    return ProbeRow(
        target=_TARGETS[probe.target],
        source=_SOURCES[probe.source],
        scope=Bilingual(
            en=f"beyond {allowed.en}" if is_beyond else f"with {allowed.en}",
            ko=f"{allowed.ko} 외" if is_beyond else f"{allowed.ko} 포함",
        ),
        n=probe.n,
        figure=probe.figure,
        low=probe.low,
        high=probe.high,
        chance=probe.chance,
        noticed_from=probe.noticed_from,
        verdict=verdict,
        state="fail" if probe.is_leak else "pass" if is_tested else "none",
    )
