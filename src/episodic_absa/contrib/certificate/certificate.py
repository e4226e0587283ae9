"""The leakage certificate: runs the probes, says which figures are distinguishable from chance, and checks the file."""

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Final

from episodic_absa.contrib.certificate.probe_methods import SHUFFLES, Figure
from episodic_absa.contrib.certificate.probes import PreparedProbe, prepared_probes
from episodic_absa.contrib.certificate.review_evidence import ReviewEvidence, gather_evidence
from episodic_absa.errors import RunDirectoryError
from episodic_absa.metrics.statistics import bootstrap_intervals, holm
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.verified_files import CERTIFICATE
from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.schemas.run_files.certificate import Certificate, ProbeResult
from episodic_absa.serialization.canonical_json import indented_json
from episodic_absa.serialization.csv_text import replace_file
from episodic_absa.verification import Findings, NotApplicableError, read_certificate

ALPHA: Final = 0.01
"""Of the runs without a leak, about one in a hundred shows a distinguishable probe by chance."""
FEWEST: Final = 20
"""Reviews below which no verdict is given."""
_MOST: Final = 1_000
"""Reviews that are probed; of more, an evenly spaced subset."""
_CONTROL_SHUFFLES: Final = 199
_RESAMPLES: Final = 2_000
_DECIMALS: Final = 6
_MAKE_ANEW: Final = "`episodic-absa verify --certificate` makes it anew"


def check_certificate(directory: Path, cells: Sequence[CellFiles], *, is_issued: bool = False) -> Findings:
    """The certificate is what the probes give, and memory tells nothing beyond the allowed.

    Args:
        directory: where certificate.json stands.
        cells: what it is about.
        is_issued: make the certificate now instead of checking the one that is there.

    Raises:
        RunDirectoryError: the file cannot be written, or no cell can be read.
    """
    if is_issued:
        certificate: Certificate | None = _issue_certificate(directory, cells)
    else:
        certificate = read_certificate(directory)
    if certificate is None:
        yield f"{CERTIFICATE} is no certificate; {_MAKE_ANEW}"
        return
    if certificate.package_version != version("episodic-absa"):
        raise NotApplicableError(f"{CERTIFICATE} was made by version {certificate.package_version}; {_MAKE_ANEW}")
    is_current = is_issued or build_certificate(cells) == certificate
    yield None if is_current else f"{CERTIFICATE} is not what the probes give now; {_MAKE_ANEW}"
    for probe in certificate.probes:
        if probe.scope == "beyond":
            target, source = probe.target.replace("_", " "), probe.source.replace("_", " ")
            yield f"{target} can be told from {source}, beyond what memory may hold" if probe.is_leak else None


def _issue_certificate(directory: Path, cells: Sequence[CellFiles]) -> Certificate:
    if not cells:
        raise RunDirectoryError(
            f"{directory} has no cell with a readable manifest; run `episodic-absa verify` without --certificate first",
            path=directory,
        )
    certificate = build_certificate(cells)
    replace_file(directory / CERTIFICATE, indented_json(certificate.model_dump(mode="json", exclude_none=True)))
    return certificate


def build_certificate(cells: Sequence[CellFiles]) -> Certificate:
    """Return the results of all probes over cells with readable manifests; equal files give equal results."""
    reviews = _evenly_spaced(gather_evidence(cells))
    results = [_result(probe) for probe in prepared_probes(reviews)]
    return Certificate(
        package_version=version("episodic-absa"),
        data_sha256=_data_sha256(cells),
        alpha=ALPHA,
        shuffles=SHUFFLES,
        reviews_n=len(reviews),
        probes=tuple(_corrected(results)),
    )


def _evenly_spaced(reviews: Sequence[ReviewEvidence]) -> list[ReviewEvidence]:
    """Return all reviews, or as many as are probed, evenly spaced over all."""
    n = len(reviews)
    return list(reviews) if n <= _MOST else [reviews[place * n // _MOST] for place in range(_MOST)]


def _result(probe: PreparedProbe) -> ProbeResult:
    """Return the figures of a probe; a probe beyond the allowed gets its verdict when all are corrected."""
    place = {"target": probe.target, "source": probe.source, "scope": probe.scope, "n": probe.n}
    if probe.n < FEWEST:
        return ProbeResult.model_validate({**place, "verdict": "too_few"})
    figure = probe.run(SHUFFLES)
    control = probe.run_control(_CONTROL_SHUFFLES).p_value < ALPHA if probe.scope == "beyond" else None
    verdict = "distinguishable" if figure.p_value < ALPHA else "not_distinguishable"
    return ProbeResult.model_validate({**place, **_figures(figure), "control": control, "verdict": verdict})


def _figures(figure: Figure) -> dict[str, float | None]:
    interval = bootstrap_intervals([figure.of_reviews], resamples=_RESAMPLES)[0]
    low, high = interval or (None, None)
    shuffled = sorted(figure.shuffled)
    values = {
        "figure": figure.value,
        "low": low,
        "high": high,
        "chance": fmean(shuffled),
        "noticed_from": shuffled[int((1 - ALPHA) * (len(shuffled) - 1))],
        "p_value": figure.p_value,
    }
    return {
        name: None if value is None else round(min(1.0, max(0.0, value)), _DECIMALS) for name, value in values.items()
    }


def _corrected(results: Sequence[ProbeResult]) -> list[ProbeResult]:
    """Return the results with Holm's correction over the probes beyond the allowed."""
    tested = [place for place, probe in enumerate(results) if probe.scope == "beyond" and probe.p_value is not None]
    corrected = list(results)
    for place, p_holm in zip(tested, holm([results[place].p_value or 0.0 for place in tested]), strict=True):
        probe = results[place]
        is_found = p_holm < ALPHA
        verdict = "distinguishable" if is_found else "not_distinguishable" if probe.control else "too_few"
        corrected[place] = probe.model_copy(update={"p_holm": round(p_holm, _DECIMALS), "verdict": verdict})
    return corrected


def _data_sha256(cells: Sequence[CellFiles]) -> str:
    digest = hashlib.sha256()
    for cell in sorted(cells, key=lambda cell: cell.path.resolve().name):
        digest.update(cell.path.resolve().name.encode())
        for lines in ((cell.path / SAMPLES).read_bytes().splitlines(), cell.store.raw):
            digest.update(len(lines).to_bytes(8, "big"))
            for line in lines:
                digest.update(line)
    return digest.hexdigest()
