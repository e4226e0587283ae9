"""Every Python block of the documentation runs, and prints what the page says it prints."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.stored_lines import entries_of
from tests.warm_python import run_warm

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("README*.md"), *(ROOT / "docs").glob("*.md")])
BESIDE_THEM = [ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
_BLOCK = re.compile(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_on_the_page_runs_and_prints_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    blocks = _BLOCK.findall(page.read_text(encoding="utf-8"))
    script = tmp_path / "page.py"
    script.write_text("\n".join(code for code, _ in blocks), encoding="utf-8")
    done = run_warm([script], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(output for _, output in blocks)


@pytest.mark.parametrize(
    "page",
    [*PAGES, *(ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY"))],
    ids=lambda page: page.name,
)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_memory_runs_in_a_foreign_agent_loop_of_under_forty_lines(tmp_path: Path) -> None:
    example = ROOT / "examples" / "memory_elsewhere.py"
    assert len(example.read_text(encoding="utf-8").splitlines()) < 40
    store = tmp_path / "episodic_store.jsonl"
    done = subprocess.run(
        [sys.executable, example, store],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    first_en, second_en, first_ko, second_ko = done.stdout.splitlines()
    assert "[Similar case: " not in first_en
    assert "[비슷한 사례: " not in first_ko
    assert "[Similar case: " in second_en
    assert "[비슷한 사례: " in second_ko
    assert len(entries_of(store)) == 4
