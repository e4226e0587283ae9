"""Text that a terminal shows as it is. Control, bidi and invisible characters from a review become visible escapes."""

import re
from typing import Final

_CONTROLS: Final = (
    r"\x00-\x1f\x7f-\x9f"  # C0, DEL, C1: U+009B begins a command of a terminal
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # writing direction
    r"\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff"  # zero width
    r"\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\ufff9-\ufffb"  # other format characters
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
    r"\u2028\u2029"  # line and paragraph separator
    r"\ud800-\udfff"  # half a character
)
_JOINERS: Final = r"\u200c\u200d"
_HIDDEN: Final = re.compile(f"[{_CONTROLS}{_JOINERS}]")
_HIDDEN_BUT_JOINERS: Final = re.compile(f"[{_CONTROLS}]")


def terminal_json(rendered: str) -> str:
    r"""Return JSON with every hidden character as a \uXXXX escape: the same value, and nothing that a terminal obeys.

    Args:
        rendered: JSON on one line. Outside its strings it holds no such character, and inside them an escape is equal.

    Example:
        >>> terminal_json('{"term": "fo\u202eod"}')
        '{"term": "fo\\u202eod"}'
    """
    return _HIDDEN.sub(_json_escape, rendered)


def visible_text(text: str, *, keeps_joiners: bool = False) -> str:
    r"""Return text for people on one line, with every hidden character as a visible escape.

    Args:
        text: comes from a file that anyone may have written.
        keeps_joiners: leave the two characters that join emoji.

    Example:
        >>> print(visible_text("fo\u202eod\x1b[31m"))
        fo\u202eod\x1b[31m
    """
    return (_HIDDEN_BUT_JOINERS if keeps_joiners else _HIDDEN).sub(_visible_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    # JSON writes a character beyond U+FFFF as two escapes, as UTF-16 does.
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _visible_escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")
