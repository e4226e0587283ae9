"""Small JSON files that end with a hash of themselves, so that every later change of a character shows."""

import hashlib
import re
from typing import Final, Literal

SealState = Literal["none", "whole", "broken"]
_SEAL: Final = re.compile(rb',\n  "seal": "([^"]*)"\n}\n\Z')
_END: Final = "\n}\n"


def sealed(text: str) -> str:
    """Return the text of an indented JSON object with its hash as the last member, `seal`.

    Args:
        text: as `indented_json` renders an object that is not empty.
    """
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return f'{text.removesuffix(_END)},\n  "seal": "{sha256}"{_END}'


def seal_state(content: bytes) -> SealState:
    """Return whether a file is as it was sealed; `none` if it does not end with a seal."""
    seal = _SEAL.search(content)
    if seal is None:
        return "none"
    body = content[: seal.start()] + _END.encode()
    return "whole" if hashlib.sha256(body).hexdigest().encode() == seal[1] else "broken"
