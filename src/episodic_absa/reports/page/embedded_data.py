"""Data inside the page: compressed blocks that the browser unpacks on demand."""

import base64
import gzip
from typing import Final

from markupsafe import Markup

_LEVEL: Final = 9


def packed(text: str) -> Markup:
    """Return a text compressed as base64 gzip; equal texts give equal bytes (the gzip header has no time stamp)."""
    data = gzip.compress(text.encode("utf-8", "surrogatepass"), compresslevel=_LEVEL, mtime=0)
    return Markup(base64.b64encode(data).decode("ascii"))  # noqa: S704 - base64 holds no markup
