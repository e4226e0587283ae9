"""The leakage certificate in the words of a page: a summary and a table with a row per probe."""

from typing import Final, NamedTuple

from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.tables.table import Score, Table, Verdict, column
from episodic_absa.schemas.run_files.certificate import Certificate, ProbeResult

_TARGETS: Final = {
    "gold_polarity": Bilingual("gold polarity", "정답 극성"),
    "identity": Bilingual("which review it is", "어느 리뷰인지"),
    "text": Bilingual("words of the review", "리뷰의 단어"),
}
_SOURCES: Final = {
    "advisories_shown": Bilingual("advisories shown to it", "그 리뷰에 보여 준 조언"),
    "advisories_passed_on": Bilingual("advisories from its episodes", "그 리뷰의 에피소드에서 나온 조언"),
    "store": Bilingual("its lines of the store", "저장소에 있는 그 리뷰의 줄"),
}
_ALLOWED: Final = {
    ("gold_polarity", "advisories_shown"): Bilingual("signature", "시그니처"),
    ("gold_polarity", "store"): Bilingual("predictions", "예측"),
}
_TERMS: Final = Bilingual("terms", "용어")
_VERDICTS: Final = {
    "not_distinguishable": Bilingual("not distinguishable from chance", "우연과 구별되지 않음"),
    "distinguishable": Bilingual("distinguishable from chance: a leak", "우연과 구별됨: 누출"),
    "too_few": Bilingual("too few samples", "샘플이 너무 적음"),
}
_DISTINGUISHABLE_ALLOWED: Final = Bilingual("distinguishable, as allowed", "구별됨(허용된 정보)")


class CertificateWords(NamedTuple):
    """What a certificate says."""

    summary: Bilingual
    table: Table
    has_leak: bool


def certificate_words(certificate: Certificate) -> CertificateWords:
    """Return a certificate in words."""
    columns = (
        column("target", ("to be found out", "알아내려는 것"), "words", lambda probe: _TARGETS[probe.target]),
        column("source", ("from", "출처"), "words", lambda probe: _SOURCES[probe.source]),
        column("scope", ("scope", "범위"), "words", _scope),
        column("n", "n", "count"),
        column(
            "figure",
            ("figure, 95 % CI", "값, 95 % 신뢰구간"),
            "estimate",
            lambda probe: Score(probe.figure, probe.low, probe.high),
            label=("figure", "값"),
        ),
        column("chance", ("chance", "우연"), "number"),
        column("noticed_from", ("noticed from", "감지 기준"), "number"),
        column("verdict", ("verdict", "판정"), "verdict", _verdict),
    )
    title = Bilingual("Probes of the certificate", "인증서의 프로브")
    table = Table("certificate", title, columns, certificate.probes)
    return CertificateWords(_summary(certificate), table, bool(certificate.leaks))


def _scope(probe: ProbeResult) -> Bilingual:
    allowed = _ALLOWED.get((probe.target, probe.source), _TERMS)
    if probe.scope == "beyond":
        return Bilingual(f"beyond {allowed.en}", f"{allowed.ko} 외")
    return Bilingual(f"with {allowed.en}", f"{allowed.ko} 포함")


def _verdict(probe: ProbeResult) -> Verdict:
    is_allowed = probe.scope == "allowed" and probe.verdict == "distinguishable"
    words = _DISTINGUISHABLE_ALLOWED if is_allowed else _VERDICTS[probe.verdict]
    return Verdict(words.en, words, is_bad=probe.is_leak)


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
