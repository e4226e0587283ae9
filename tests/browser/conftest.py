"""A real Chromium, or the reason why there is none. Pages are opened from files, as readers open them."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.extras import require_extra
from tests.reports.shared_grids import hostile_grid, shipped_grid, v3_grid

from episodic_absa.reports.run_report import REPORT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

_ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --disable-background-networking --disable-component-update "
    "--disable-sync --no-first-run"
)
_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Where Chromium lies; skips, with the reason, what cannot run without it."""
    require_extra("browser")
    if _CHROMIUM is None:
        pytest.skip("no Chromium found: apt-get install chromium")
    return _CHROMIUM


@pytest.fixture(scope="module")
def chromium(chromium_path: str) -> "Iterator[Browser]":
    """One browser per module, never longer: its driver keeps an event loop, which other tests must not meet."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium_path, args=_ARGUMENTS.split())
        yield browser
        browser.close()


class Reader:
    """Someone who opens pages, and notices every error and every attempt to reach the network."""

    def __init__(self, browser: "Browser") -> None:
        self._browser = browser
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._contexts: list[Any] = []

    def open(
        self,
        path: Path,
        *,
        width: int = 1280,
        height: int = 900,
        scheme: Any = "light",
        hash_: str = "",
        **context: Any,
    ) -> "Page":
        """Open a report and wait until its samples are listed."""
        made = self._browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce", **context
        )
        self._contexts.append(made)
        page = made.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda message: self.errors.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: self.errors.append(f"dialog: {dialog.message}"))
        page.goto(path.as_uri() + hash_)
        page.wait_for_selector("#explorer:not([hidden])", state="attached")
        return page

    def expect(self, locator: "Locator") -> Any:
        """Wait for a locator to be as it should. Waiting within the page would need eval, which its policy refuses."""
        from playwright.sync_api import expect

        return expect(locator)

    def close(self) -> None:
        """Close all pages; every one must have been quiet."""
        for context in self._contexts:
            context.close()


@pytest.fixture
def reader(chromium: "Browser") -> Iterator[Reader]:
    """A reader; a test passes only if no page complained or asked for anything but itself."""
    reader = Reader(chromium)
    yield reader
    reader.close()
    assert reader.errors == []
    assert [url for url in reader.requests if not url.startswith("file:") or REPORT not in url] == []


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory, chromium_path: str) -> Path:  # noqa: ARG001 - skips before running
    """The page of a small grid under seed rules."""
    return shipped_grid(tmp_path_factory) / REPORT


@pytest.fixture(scope="session")
def v3_report(tmp_path_factory: pytest.TempPathFactory, chromium_path: str) -> Path:  # noqa: ARG001 - see above
    """The page of a small grid under rules v3, the default, with several efforts."""
    return v3_grid(tmp_path_factory) / REPORT


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory: pytest.TempPathFactory, chromium_path: str) -> Path:  # noqa: ARG001 - see above
    return hostile_grid(tmp_path_factory) / REPORT


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures go that are looked at and thrown away."""
    return tmp_path_factory.mktemp("screenshots")
