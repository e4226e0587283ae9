"""The documentation site builds without a warning and without network, and holds every page."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.page_blocks import ROOT, SITE
from tests.extras import require_extra


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_extra("docs")
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        str(ROOT / "docs"),
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # Sphinx checks the links between pages, anchors included, and that every page stands in a table of contents.
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_on_the_site_and_loads_nothing_from_elsewhere(site: Path) -> None:
    for page in SITE:
        html = (site / page.relative_to(ROOT / "docs")).with_suffix(".html").read_text("utf-8")
        loaded = re.findall(r"<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)=\"([^\"]+)\"", html)
        assert [address for address in loaded if re.match(r"https?:|//", address)] == []


def test_the_api_has_its_docstrings_and_the_commands_their_options(site: Path) -> None:
    assert "episodic_absa.Analyzer.analyze_many" in (site / "reference" / "api.html").read_text("utf-8")
    assert "--dry-run" in (site / "reference" / "commands.html").read_text("utf-8")
