"""No credential survives the one function that errors, logs and documents pass through."""

import base64
import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from episodic_absa.serialization.canonical_json import indented_json
from episodic_absa.serialization.quoted_value import QUOTED_CHARS, listed, quoted
from episodic_absa.serialization.redaction import (
    credential_in,
    environment_secrets,
    login_in,
    redacted,
    without_credentials,
)

# What a key or an encoded password is made of. The mark itself must not hold it.
SECRETS = st.text("ABCDEFGHJKMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz0123456789-._~%!$*+", min_size=8, max_size=60).filter(
    lambda drawn: any(character.isdigit() for character in drawn)
)
WORDS = st.text(max_size=20)
PLACES = (
    "http://ann:{}@llm.example:8000/v1",
    "https://{}@llm.example/v1",
    "https:/ann:{}@llm.example",
    "postgresql+psycopg://ann:{}@db.example/absa?sslmode=require",
    "socks5h://ann:{}@127.0.0.1:1",
    "https://llm.example/v1?api-version=3&api_key={}",
    "https://llm.example/v1?key={}&alt=json",
    "host=db.example user=ann password={} dbname=absa",
    "Authorization: Bearer {}",
    "{{'authorization': 'Bearer {}'}}",
    '{{"x-api-key": "{}"}}',
    "[(b'api-key', b'{}')]",
    "Proxy-Authorization: Basic {}",
    "Cookie: session={}",
)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    with monkeypatch.context() as patched:
        yield patched


@given(st.sampled_from(PLACES), SECRETS, WORDS, WORDS)
@example(PLACES[0], "hid/den?word#1", "", "")
@example("[(b'api-key', b'{}')]", "00000000", "", "")
@example("Authorization: Bearer {}", "00000000", "", "")
def test_no_credential_is_left_in_a_text_and_redacting_twice_changes_nothing(
    place: str, secret: str, before: str, after: str
) -> None:
    text = redacted(f"{before} {place.format(secret)} {after}")
    assert secret not in text.replace(before, "").replace(after, "")
    assert redacted(text) == text
    assert secret not in redacted(repr(place.format(secret)))


@given(SECRETS)
def test_what_the_environment_holds_as_a_secret_is_replaced_wherever_it_stands(
    environment: pytest.MonkeyPatch, secret: str
) -> None:
    environment.setenv("OPENAI_API_KEY", f"k1{secret}")
    environment.setenv("SOME_EXTRA_HEADERS", f"X-Tenant: Bearer h2{secret}")
    environment.setenv("HTTPS_PROXY", f"http://ann:{quote('p3' + secret, safe='')}@proxy.example:3128")
    environment.setenv("PGPASSWORD", f"d4{secret}")
    held = [f"{kind}{secret}" for kind in ("k1", "h2", "p3", "d4")]
    login = base64.b64encode(f"ann:p3{secret}".encode()).decode()
    for text in (*held, *(quote(value, safe="") for value in held), login, json.dumps({"model": held})):
        assert secret not in redacted(f"it said {text} twice: {text}")
        assert login not in redacted(text)
    document = indented_json({"model": held, "more": [{"note": f"<{held[0]}>"}]})
    assert secret not in document
    assert json.loads(document)["more"][0]["note"] == "<[key]>"


@pytest.mark.parametrize("placeholder", ["ollama", "not-needed", "embedded", "x"])
def test_a_placeholder_for_a_key_is_no_secret(environment: pytest.MonkeyPatch, placeholder: str) -> None:
    environment.setenv("OPENAI_API_KEY", placeholder)
    assert placeholder not in environment_secrets()


@pytest.mark.parametrize(
    "text",
    [
        "http://127.0.0.1:8000/v1",
        "http://llm.example:8000/@cf/meta",
        "https://llm.example/v1?api-version=2024-10-21",
        "postgresql://ann@db.example/absa",
        "ssh://git@code.example/absa",
        "data/{condition}_{seed}.jsonl",
        "ann@example.org: basic functionality, a bearer of bad news; the key = the password",
        "제주 여행 https://example.org/리뷰?page=2",
    ],
)
def test_plain_texts_stay_as_they_are(text: str) -> None:
    assert redacted(text) == text
    assert without_credentials(text) == text
    assert credential_in(text) is None
    assert login_in(text) is None


@pytest.mark.parametrize(
    ("given_address", "left", "login"),
    [
        ("http://ann:hid%40den@h:1/v1?a=1", "http://h:1/v1?a=1", ("ann", "hid@den")),
        ("http://ann:hid/den@h:1/v1", "http://h:1/v1", ("ann", "hid/den")),
        ("http://h/v1?token=hidden", "http://h/v1", None),
        ("http://hidden@h", "http://h", ("hidden", "")),
    ],
)
def test_an_address_can_be_used_without_its_credentials(
    given_address: str, left: str, login: tuple[str, str] | None
) -> None:
    assert without_credentials(given_address) == left
    assert login_in(given_address) == login


@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
@settings(max_examples=30)
@example("x" * 100_000)
@example(10**4000)
def test_a_message_quotes_at_most_200_characters(value: object) -> None:
    assert len(quoted(value)) <= QUOTED_CHARS
    assert len(listed([value] * 100)) < 50 * QUOTED_CHARS
