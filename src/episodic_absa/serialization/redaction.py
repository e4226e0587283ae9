"""Takes credentials out of what leaves the program: errors, logs, and the documents that describe a run.

A credential is the password of an address, a key in its query, the value of a header that authorises, a key of a
well-known form, and whatever the environment holds under a name such as OPENAI_API_KEY or PGPASSWORD.
"""

import base64
import json
import os
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote, unquote

KEY_MARK: Final = "[key]"
URL_MARK: Final = "[credentials]"
SHORTEST_SECRET: Final = 8
"""A shorter value of the environment is a placeholder such as `ollama`, which other texts may hold by right."""
_PLACEHOLDER: Final = re.compile(r"[a-z_-]{0,15}")
"""A short word in the place of a key, such as `not-needed`: servers of one's own ask for some key and check none."""

_SECRET_VARIABLE: Final = re.compile(
    r"(?:(?:^|_)(?:KEY|TOKEN|SECRET|PASSPHRASE|PASSWD)|PASSWORD|API_?KEY)$", re.IGNORECASE
)
_HEADERS_VARIABLE: Final = re.compile(r"_HEADERS?$", re.IGNORECASE)
# Every repetition has a limit: a server chooses the text, and the time to search it must not grow with its square.
_SCHEME: Final = r"(?<![A-Za-z0-9+.-])(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,19}):"
# A path that was an address has one slash left of two.
_USERINFO: Final = re.compile(_SCHEME + r"(?P<slashes>/{1,3})(?P<userinfo>[^\s/?#]{0,500})@")
# A password may hold a slash that nobody encoded; what stands before it is then no port.
_SPLIT_USERINFO: Final = re.compile(
    _SCHEME + r"(?P<slashes>//)(?P<userinfo>[^\s/?#@:]{1,100}:(?!\d{1,5}[/?#])[^\s/?#@]{0,200}[/?#][^\s@]{0,200})@"
)
_QUERY: Final = re.compile(
    r"(?P<name>[?&;](?:[\w.-]{0,40}(?:api[-_]?key|subscription[-_]?key|token|secret|passw(?:or)?d|signature|credential)"
    r"|key|sig|pwd|auth|code))=(?P<value>[^&#;\s'\"]+)",
    re.IGNORECASE,
)
_CONNECTION_STRING: Final = re.compile(
    r"(?P<name>\b(?:password|passwd|pwd))\s*=\s*(?P<value>'(?:[^'\\]|\\.)*'|[^\s;&'\"]+)", re.IGNORECASE
)
_HEADER: Final = re.compile(
    r"(?P<name>\b(?:proxy-)?authorization|\b(?:x-)?(?:goog-)?api-key)"
    r"(?P<between>(?>[\"']?\s*[:=,]\s*(?:b(?=[\"']))?[\"']?))(?!\[key\])"
    r"(?P<value>(?:(?:bearer|basic|digest|token)\s+)?[^\s\"',;)}\]]+)",
    re.IGNORECASE,
)
_COOKIE: Final = re.compile(
    r"(?P<name>\b(?:set-)?cookie)(?P<between>(?>[\"']?\s*[:,]\s*(?:b(?=[\"']))?[\"']?))(?!\[key\])(?=[^\s=]{1,200}=)[^\r\n\"']+",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"\b(?P<kind>Bearer|Basic)\s+(?=\S*\d)[A-Za-z0-9._~+/=-]{16,}", re.IGNORECASE)
_KNOWN_FORM: Final = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,}|(?:hf|gsk|ghp|xai)[_-][A-Za-z0-9_]{20,})"
)


def redacted(text: str) -> str:
    """Return the text with every credential in it replaced by a mark.

    Example:
        >>> redacted("cannot reach https://ann:hunter2@llm.example/v1?api_key=abc")
        'cannot reach https://[credentials]@llm.example/v1?api_key=[credentials]'
    """
    text = without_keys(text)
    if ":/" in text:
        text = _USERINFO.sub(_without_userinfo, _SPLIT_USERINFO.sub(_without_userinfo, text))
    if "=" in text:
        text = _CONNECTION_STRING.sub(rf"\g<name>={URL_MARK}", _QUERY.sub(rf"\g<name>={URL_MARK}", text))
    for header in (_HEADER, _COOKIE):
        text = header.sub(rf"\g<name>\g<between>{KEY_MARK}", text)
    return _KNOWN_FORM.sub(KEY_MARK, _TOKEN.sub(rf"\g<kind> {KEY_MARK}", text))


def without_keys(text: str) -> str:
    """Return the text without what the environment holds as keys and passwords; all else stays as it is."""
    for secret in environment_secrets():
        if secret in text:
            text = text.replace(secret, KEY_MARK)
    return text


def redacted_value(value: Any) -> Any:
    """Return a JSON value with every text in it redacted; the keys of objects stay."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, dict):
        return {key: redacted_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redacted_value(item) for item in value]
    return value


def without_credentials(address: str) -> str:
    """Return an address without user name, password and keys, still fit to be used.

    Example:
        >>> without_credentials("https://ann:hunter2@llm.example/v1?api-version=3&api_key=abc")
        'https://llm.example/v1?api-version=3'
    """
    address = _USERINFO.sub(_bare, _SPLIT_USERINFO.sub(_bare, address))
    head, mark, query = address.partition("?")
    kept = [part for part in query.split("&") if not _QUERY.match(f"?{part}")]
    return head + (mark + "&".join(kept) if any(kept) else "")


def credential_in(text: object) -> str | None:
    """Return what kind of credential an address or path of the user holds, None if it holds none.

    Example:
        >>> credential_in("postgresql://ann:hunter2@db.example/absa"), credential_in("data/valid.csv")
        ('a password', None)
    """
    shown = str(text) if isinstance(text, str | PurePath) else ""
    for match in (*_SPLIT_USERINFO.finditer(shown), *_USERINFO.finditer(shown)):
        if _is_secret(match):
            return "a password" if ":" in match["userinfo"] else "a user name"
    if ":/" in shown and _QUERY.search(shown):
        return "a key"
    return "a password" if _CONNECTION_STRING.search(shown) else None


def login_in(address: str) -> tuple[str, str] | None:
    """Return the user name and the password of an address, None if it has none."""
    match = _SPLIT_USERINFO.search(address) or _USERINFO.search(address)
    if match is None or not _is_secret(match):
        return None
    user, _, password = match["userinfo"].partition(":")
    return unquote(user), unquote(password)


def environment_secrets() -> tuple[str, ...]:
    """Return the keys and passwords of the environment in all forms that a message may hold, longest first."""
    forms = {
        form
        for variable, value in os.environ.items()
        for secret in _secrets_of(variable, value)
        if len(secret) >= SHORTEST_SECRET
        for form in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1], repr(secret)[1:-1])
    }
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _secrets_of(variable: str, value: str) -> Iterator[str]:
    if _SECRET_VARIABLE.search(variable) and not _PLACEHOLDER.fullmatch(value.strip()):
        yield value.strip()
    elif _HEADERS_VARIABLE.search(variable):
        for line in value.splitlines():
            header = line.partition(":")[2].strip()
            yield header
            yield header.rpartition(" ")[2]
    if ":/" not in value:
        return
    for match in (*_SPLIT_USERINFO.finditer(value), *_USERINFO.finditer(value)):
        if _is_secret(match):
            user, _, password = match["userinfo"].partition(":")
            secret = password or user
            yield from (secret, unquote(secret))
            yield base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    for match in _QUERY.finditer(value):
        yield from (match["value"], unquote(match["value"]))


def _is_secret(match: re.Match[str]) -> bool:
    # The user name of a database is no secret; that of a web address may be a token.
    return ":" in match["userinfo"] or (bool(match["userinfo"]) and match["scheme"].lower() in ("http", "https"))


def _bare(match: re.Match[str]) -> str:
    return f"{match['scheme']}:{match['slashes']}" if _is_secret(match) else match[0]


def _without_userinfo(match: re.Match[str]) -> str:
    return f"{match['scheme']}:{match['slashes']}{URL_MARK}@" if _is_secret(match) else match[0]
