"""The engine and its naive twin agree, and redacting again changes nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errorsink._redact import ERROR, Redactor
from errorsink._redact_rules import custom_term, rules
from errorsink._redact_rules._rule import words
from tests.redact import secrets
from tests.redact.adversarial import UNITS, grown
from tests.redact.naive import NaiveRedactor

ENGINE = Redactor(keys=["tenant ref", "oauth2_blob"], enable=["public-ip"])
TWIN = NaiveRedactor(rules([custom_term("tenant ref"), custom_term("oauth2_blob")]))

NAMES = st.sampled_from(
    words(
        "password passwd pass pwd DB_PASSWORD dbPassword secret client_secret token access-token csrf apiKey api_key",
        "X-Api-Key auth authorization Cookie Set-Cookie secretAccessKey private_key tenantRef tenant_ref oauth2Blob",
        "cvv otp sid author token_count",
    )
)
SIGNS = st.sampled_from(
    ["=", ": ", ":", " = ", "'='", '": "', "': '", "%3D", " is ", " ", "=='", "', '", "=>", '\\": \\"', ">", ""]
)
VALUES = st.one_of(
    st.integers(0, 99).map(secrets.password),
    st.sampled_from([make for makers in secrets.TOKENS.values() for make in makers]).flatmap(
        lambda make: st.integers(0, 9).map(make)
    ),
    st.sampled_from(
        ["None", "***", "required", "hunter2", "str", "is invalid", "{x}", "%s", "/home/jo/x", "C:\\Users\\jo\\x"]
    ),
    st.integers(0, 9).map(lambda seed: secrets.card("4", 16, seed)),
    st.just(secrets.iban("DE", "370400440532013000")),
    st.sampled_from(
        ["jo.doe@mail.example.com", "123-45-6789", "8.8.8.8", "postgresql://u:p@ss/w@host:5432/x", "//u:pw@h"]
    ),
    st.integers(0, 9).map(lambda seed: "Basic " + secrets.basic(seed=seed)),
    st.booleans().map(lambda end: secrets.pem(end=end)),
)
GLUE = st.sampled_from(
    [
        *" \n\t'\"&;\\[](){}<@.é",
        *words("\\n , %26 -- # '' \"\" [REDACTED:token] [REDACTED:"),
        "\x1b[31m",
        '\n  File "a.py", line 3, in f\n    ',
    ]
)
TEXTS = st.lists(st.one_of(NAMES, SIGNS, VALUES, GLUE, st.text(max_size=4)), max_size=24).map("".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_engine_and_naive_twin_mask_the_same(text: str) -> None:
    """Looking words up finds no less and no more than every rule on the whole text."""
    assert ENGINE.redact(text) == TWIN.redact(text)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_redacting_again_changes_nothing(text: str) -> None:
    """Redaction is idempotent, whatever stands next to what."""
    once = ENGINE.redact(text)
    assert ENGINE.redact(once) == once


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_redacted_without_error(text: str) -> None:
    """Surrogates, control characters and letters of any script raise nothing."""
    assert ENGINE.redact(text) != ERROR


@pytest.mark.parametrize("name", UNITS)
def test_engine_and_naive_twin_agree_on_adversarial_texts(name: str) -> None:
    """Repeated units, where every place is a candidate."""
    text = grown(name, 2_000)
    assert ENGINE.redact(text) == TWIN.redact(text)


@pytest.mark.parametrize("name", UNITS)
def test_redacting_adversarial_texts_again_changes_nothing(name: str) -> None:
    """Idempotence where masks pile up."""
    once = ENGINE.redact(grown(name, 2_000))
    assert ENGINE.redact(once) == once
