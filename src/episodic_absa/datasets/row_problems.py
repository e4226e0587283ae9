"""Collects what is wrong with the rows of a file, so that one bad cell does not hide the others."""

from pathlib import Path
from typing import Final

from episodic_absa.errors import DatasetError

_LINES_SHOWN: Final = 5


class RowProblems:
    """The bad rows of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._errors: list[DatasetError] = []

    def note(self, error: DatasetError) -> None:
        """Keep the error of one row; the rows after it are read nevertheless."""
        # A traceback would hold the reader that holds these errors, and so keep its file open.
        self._errors.append(error.with_traceback(None))

    def raise_any(self) -> None:
        """Raise one error that names the lines of each kind of problem, if there was any."""
        if not self._errors:
            return
        first = self._errors[0]
        if len(self._errors) == 1:
            raise first
        raise DatasetError(self._message(), path=first.path, line=first.line)

    def _message(self) -> str:
        lines: dict[str, list[int]] = {}
        for error in self._errors:
            problem = str(error).removeprefix(f"{self._path}, line {error.line}: ")
            lines.setdefault(problem, []).append(error.line or 0)
        kinds = [f"line{_shown(numbers)}: {problem}" for problem, numbers in lines.items()]
        more = f"; and {len(kinds) - _LINES_SHOWN} more problems" if len(kinds) > _LINES_SHOWN else ""
        return f"{self._path}, " + "; ".join(kinds[:_LINES_SHOWN]) + more


def _shown(numbers: list[int]) -> str:
    more = f" and {len(numbers) - _LINES_SHOWN} more" if len(numbers) > _LINES_SHOWN else ""
    return f"{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers[:_LINES_SHOWN]))}{more}"
