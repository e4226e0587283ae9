"""The folder of the shipped weights: its manifest, its files checked by their sha256, its fingerprint."""

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from episodic_absa.errors import ConfigError

SHIPPED: Final = Path(__file__).with_name("weights")
MANIFEST: Final = "manifest.json"
NETWORK: Final = "reader.onnx.gz"
TOKENIZER: Final = "tokenizer.json"
VECTORS: Final = "vectors.npz"
TERM_TOKENIZER: Final = "vectors.tokenizer.json"
"""Stands beside vectors whose pieces are not those of the network."""
CALIBRATION: Final = "calibration.json"


class WeightsFolder:
    """The files of a reader: `ko/` and `en/` with one network each, the calibration of both, the manifest."""

    def __init__(self, path: Path = SHIPPED) -> None:
        self.path = path

    @cached_property
    def files(self) -> dict[str, str]:
        """The sha256 of every file but the manifest, by its path in the folder."""
        try:
            manifest: dict[str, Any] = json.loads((self.path / MANIFEST).read_text("utf-8"))
            return dict(sorted(manifest["files"].items()))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._broken(MANIFEST, str(error)) from error

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 over weights and tables: readers with equal ones give equal answers."""
        return hashlib.sha256(
            "".join(f"{name}\0{digest}\0" for name, digest in self.files.items()).encode()
        ).hexdigest()

    def holds(self, name: str) -> bool:
        """Return whether the manifest names a file."""
        return name in self.files

    def content(self, name: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            ConfigError: the file is missing or not the one that the manifest names.
        """
        try:
            content = (self.path / name).read_bytes()
        except OSError as error:
            raise self._broken(name, str(error)) from error
        if hashlib.sha256(content).hexdigest() != self.files.get(name):
            raise self._broken(name, "its sha256 is not that of the manifest")
        return content

    def _broken(self, name: str, reason: str) -> ConfigError:
        path = self.path / name
        return ConfigError(f"cannot read the reader's weights {path}: {reason}; reinstall the package", path=path)
