"""The lock: exact versions and hashes of what an environment is made of.

    python .ci/lock.py write                  resolve the ranges of pyproject.toml anew and write lock.txt
    python .ci/lock.py install [EXTRA ...]    install the project, the packages of the extras as locked
    python .ci/lock.py audit                  compare lock.txt with pyproject.toml and with what is installed

`install` runs in an environment that holds nothing but pip, so only the other two may need the extra `dev`.
"""

import argparse
import functools
import hashlib
import itertools
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.request import Request, urlopen

if TYPE_CHECKING:
    from packaging.requirements import Requirement

ROOT: Final = Path(__file__).resolve().parents[1]
THIS: Final = Path(__file__).resolve().relative_to(ROOT)
BUILD: Final = "build"
PROJECT: Final = "project"
COMES_WITH_PYTHON: Final = "pip"
_MADE_FOR: Final = re.compile(r"^# made for: (.+)$", re.MULTILINE)
_PACKAGE: Final = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)==(?P<version>[\w.!+]+)(?P<hashes>(?: --hash=\S+)*)")
_SHA256: Final = re.compile(r"--hash=sha256:([0-9a-f]{64})(?=\s|$)")
_HOST: Final = re.compile(r"[a-z]+://|^-|(?:^|\s)--(?!hash=)| @ |^[./]")


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """One package of the lock."""

    name: str
    version: str
    hashes: tuple[str, ...]
    needed_by: tuple[str, ...]
    """`build`, `project` or the names of extras."""

    def text(self) -> str:
        """Return the lines of the lock file."""
        hashes = [f"--hash=sha256:{digest}" for digest in self.hashes]
        pinned = " \\\n    ".join((f"{self.name}=={self.version}", *hashes))
        return f"# needed by: {' '.join(self.needed_by)}\n{pinned}\n"


@dataclass(frozen=True, slots=True)
class Lock:
    """What a lock file says, and what is wrong with its lines."""

    made_for: str
    packages: tuple[LockedPackage, ...]
    problems: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path) -> "Lock":
        """Read a lock file; lines that pin nothing are problems."""
        text = path.read_text(encoding="utf-8")
        made_for = _MADE_FOR.search(text)
        packages: list[LockedPackage] = []
        problems = [] if made_for else [f"{path.name} does not say which Python it is made for"]
        needed_by: tuple[str, ...] = ()
        for line in re.sub(r"\s*\\\n\s*", " ", text).splitlines():
            if line.startswith("# needed by: "):
                needed_by = tuple(line.removeprefix("# needed by: ").split())
            if not line.strip() or line.startswith("#"):
                continue
            match = _PACKAGE.fullmatch(line.strip())
            if _HOST.search(line):
                problems.append(f"{path.name} names a place or an option of pip: {line.strip()[:80]}")
            elif match is None:
                problems.append(f"{path.name} does not pin one version: {line.strip()[:80]}")
            else:
                hashes = tuple(_SHA256.findall(match["hashes"]))
                packages.append(LockedPackage(match["name"], match["version"], hashes, needed_by))
                if not hashes:
                    problems.append(f"{match['name']}=={match['version']} has no hash in {path.name}")
        return cls(made_for[1] if made_for else "", tuple(packages), tuple(problems))

    def text(self) -> str:
        """Return the lock file."""
        head = "# `make lock` writes this file; `make audit` compares it with pyproject.toml and what is installed.\n"
        return head + f"# made for: {self.made_for}\n\n" + "".join(package.text() for package in self.packages)

    def by_name(self) -> dict[str, LockedPackage]:
        """Return the packages by their normalized names."""
        return {normalized(package.name): package for package in self.packages}


def normalized(name: str) -> str:
    """Return the name by which package indexes know a package."""
    return re.sub(r"[-_.]+", "-", name).lower()


def this_python() -> str:
    """Return what decides which packages and files an environment needs."""
    version = ".".join(map(str, sys.version_info[:2]))
    return f"{platform.python_implementation()} {version} on {sys.platform} {platform.machine()}"


def ranges(project: Path) -> dict[str, list[str]]:
    """Return the requirements of pyproject.toml by what needs them: `build`, `project`, the extras."""
    document = tomllib.loads(project.read_text(encoding="utf-8"))
    return {
        BUILD: [*document["build-system"]["requires"], *document.get("dependency-groups", {}).get(BUILD, [])],
        PROJECT: document["project"].get("dependencies", []),
        **document["project"].get("optional-dependencies", {}),
    }


def install(lock: Lock, extras: list[str]) -> None:
    """Install the project in place with the packages that it and the extras need."""
    if lock.made_for != this_python():
        print(
            f"lock.txt is made for {lock.made_for} and this is {this_python()}: the newest versions within the ranges "
            "of pyproject.toml are installed, without hashes."
        )
        _pip("install", "--editable", f".[{','.join(extras)}]" if extras else ".")
        return
    builders = [package for package in lock.packages if BUILD in package.needed_by]
    wanted = [package for package in lock.packages if {PROJECT, *extras}.intersection(package.needed_by)]
    # Sources are built with the locked builders: what pip installs into a build environment is not hashed.
    _pip_install_locked(builders, "--only-binary", ":all:")
    _pip_install_locked(wanted, "--no-build-isolation")
    # A folder cannot be hashed.
    _pip("install", "--no-deps", "--no-build-isolation", "--editable", ".")


def _pip_install_locked(packages: Iterable[LockedPackage], *options: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "locked.txt"
        listed.write_text("".join(package.text() for package in packages), encoding="utf-8")
        # The lock is whole. Resolved again it would fail: to pip, a pinned `coverage` does not pin `coverage[toml]`.
        _pip("install", *options, "--no-deps", "--require-hashes", "--requirement", str(listed))


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
        sys.exit(code)


def audit(lock: Lock, wanted: Mapping[str, list[str]], *, with_installed: bool) -> list[str]:
    """Return what is wrong with the lock, and with what is installed."""
    locked = lock.by_name()
    is_compared = with_installed and lock.made_for == this_python()
    installed = {normalized(found.name): found for found in metadata.distributions()} if is_compared else {}
    requires = {name: found.requires or [] for name, found in installed.items()}
    problems = list(lock.problems)
    for group, requirements in wanted.items():
        problems += [
            f"{wide} ({group}) has no upper bound in pyproject.toml" for wide in requirements if "<" not in wide
        ]
        for asker, requirement in needs(requirements, requires):
            package = locked.get(normalized(requirement.name))
            wish = f"{requirement.name}{requirement.specifier}"
            if package is None:
                problems.append(f"{asker or group} needs {wish} and lock.txt does not hold it")
            elif not requirement.specifier.contains(package.version, prereleases=True):
                problems.append(f"{asker or group} needs {wish} and lock.txt holds {package.version}")
            elif group not in package.needed_by:
                problems.append(f"{group} needs {requirement.name} and lock.txt does not say so")
    if is_compared:
        problems += _differences(locked, installed)
    return sorted(set(problems))


def _differences(locked: Mapping[str, LockedPackage], installed: Mapping[str, metadata.Distribution]) -> Iterator[str]:
    """Yield how what is installed differs from the lock."""
    own = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    for name, found in installed.items():
        package = locked.get(name)
        if name in (COMES_WITH_PYTHON, normalized(own)):
            continue
        if package is None:
            yield f"{name} {found.version} is installed and lock.txt does not hold it; `make clean` begins anew"
        elif found.version != package.version:
            yield f"{name} {found.version} is installed and lock.txt holds {package.version}; `make clean` begins anew"
    for name, package in locked.items():
        if name not in installed and {BUILD, PROJECT}.intersection(package.needed_by):
            yield f"{name} is not installed and {package.needed_by[0]} needs it; `make clean` begins anew"


def needs(requirements: Iterable[str], requires: Mapping[str, list[str]]) -> Iterator[tuple[str | None, "Requirement"]]:
    """Yield each requirement and those of the packages it leads to, with the package that asks.

    Args:
        requirements: where to begin.
        requires: the requirements of packages, by normalized name; a package that is not in it leads nowhere.
    """
    from packaging.requirements import Requirement

    waiting: list[tuple[str | None, str, frozenset[str]]] = [(None, text, frozenset({""})) for text in requirements]
    seen: set[tuple[str, str]] = set()
    while waiting:
        asker, text, active = waiting.pop()
        requirement = Requirement(text)
        if requirement.marker and not any(requirement.marker.evaluate({"extra": extra}) for extra in active):
            continue
        yield asker, requirement
        name = normalized(requirement.name)
        for extra in sorted({"", *requirement.extras}):
            if (name, extra) not in seen:
                seen.add((name, extra))
                waiting += [(name, further, frozenset({extra})) for further in requires.get(name, [])]


def resolved(wanted: Mapping[str, list[str]]) -> Lock:
    """Return the newest versions within the ranges, as pip resolves them, with the hashes of all their files."""
    with tempfile.TemporaryDirectory() as folder:
        listed, report = Path(folder) / "ranges.txt", Path(folder) / "report.json"
        listed.write_text("\n".join(itertools.chain.from_iterable(wanted.values())), encoding="utf-8")
        options = ("--dry-run", "--ignore-installed", "--prefer-binary", "--report", str(report))
        _pip("install", *options, "--requirement", str(listed))
        chosen = json.loads(report.read_text(encoding="utf-8"))["install"]
    requires = {normalized(item["metadata"]["name"]): item["metadata"].get("requires_dist", []) for item in chosen}
    needed_by: dict[str, list[str]] = {name: [] for name in requires}
    for group, requirements in wanted.items():
        for name in {normalized(requirement.name) for _, requirement in needs(requirements, requires)}:
            needed_by[name].append(group)
    return Lock(
        this_python(),
        tuple(
            LockedPackage(
                item["metadata"]["name"],
                item["metadata"]["version"],
                published_hashes(item["metadata"]["name"], item["metadata"]["version"], _hash_of(item)),
                tuple(needed_by[name]),
            )
            for name, item in sorted((normalized(item["metadata"]["name"]), item) for item in chosen)
        ),
    )


def _hash_of(item: Mapping[str, Any]) -> str:
    """Return the hash of the file that pip chose."""
    download = item["download_info"]
    if download["url"].startswith("file:"):
        return hashlib.sha256(Path(download["url"].removeprefix("file://")).read_bytes()).hexdigest()
    digest: str = download["archive_info"]["hashes"]["sha256"]
    return digest


def published_hashes(name: str, version: str, chosen: str) -> tuple[str, ...]:
    """Return the hashes of all files of a version, as the package index of pip lists them.

    Args:
        name: the package.
        version: its version.
        chosen: the hash of the file that pip chose, which must be among them.
    """
    from packaging.version import Version
    from pip._internal.models.index import PyPI  # pip's default index, which it tells nowhere in public

    address = f"{_pip_setting('index-url') or PyPI.simple_url}/{normalized(name)}/"
    request = Request(address, headers={"Accept": "text/html"})  # noqa: S310 - the index of pip, which installs from it
    with urlopen(request, timeout=60) as page:  # noqa: S310 - see above
        links = _Links()
        links.feed(page.read().decode("utf-8"))
    hashes = {digest for file, digest in links.found if _version_of(file) == str(Version(version))}
    if chosen not in hashes:
        sys.exit(f"{name} {version}: the package index does not list the file that pip chose (sha256 {chosen})")
    return tuple(sorted(hashes))


class _Links(HTMLParser):
    """Collects the files of an index page with their hashes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a link to a file that has a hash."""
        address, _, digest = (dict(attrs).get("href") or "").partition("#sha256=")
        if tag == "a" and digest:
            self.found.append((address.rpartition("/")[2].partition("?")[0], digest.partition("&")[0]))


def _version_of(file: str) -> str | None:
    """Return the version in the name of a published file, None if it is of a kind that pip does not install."""
    from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename

    try:
        return str(parse_wheel_filename(file)[1] if file.endswith(".whl") else parse_sdist_filename(file)[1])
    except (InvalidSdistFilename, InvalidWheelFilename):
        return None


@functools.cache
def _pip_setting(name: str) -> str:
    """Return a setting of pip, empty if there is none."""
    given = os.environ.get("PIP_" + name.upper().replace("-", "_"))
    command = [sys.executable, "-m", "pip", "config", "get", f"global.{name}"]
    return (given or subprocess.run(command, capture_output=True, text=True, check=False).stdout).strip().rstrip("/")


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog=str(THIS), description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--lock", type=Path, default=ROOT / "lock.txt", help="the lock file")
    parser.add_argument("--project", type=Path, default=ROOT / "pyproject.toml", help="the file with the ranges")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("write", help="resolve the ranges anew and write the lock file")
    commands.add_parser("install", help="install the project and what extras need").add_argument("extras", nargs="*")
    audited = commands.add_parser("audit", help="compare the lock with the ranges and with what is installed")
    audited.add_argument("--lock-only", action="store_true", help="look at no installed package")
    given = parser.parse_args()
    wanted = ranges(given.project)
    if given.command == "write":
        lock = resolved(wanted)
        given.lock.write_text(lock.text(), encoding="utf-8")
        print(f"{given.lock.name}: {len(lock.packages)} packages for {lock.made_for}")
        return
    lock = Lock.read(given.lock)
    if given.command == "install":
        if unknown := sorted(set(given.extras) - set(wanted)):
            sys.exit(f"{given.project.name} has no extra {', '.join(unknown)}; it has {', '.join(list(wanted)[2:])}")
        install(lock, given.extras)
        return
    if problems := audit(lock, wanted, with_installed=not given.lock_only):
        sys.exit("\n".join(problems))
    print(f"{given.lock.name}: {len(lock.packages)} packages, pinned and hashed, within the ranges of pyproject.toml.")
    if not given.lock_only:
        fits = lock.made_for == this_python()
        print(
            "What is installed is what is locked."
            if fits
            else f"It is made for {lock.made_for}; what is installed for {this_python()} is not compared."
        )


if __name__ == "__main__":
    main()
