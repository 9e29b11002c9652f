"""The redactor's own behaviour: settings, hook, keys, counts, failure."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import errorsink
from errorsink._redact import ERROR, Redactor
from errorsink._redact_rules._rule import words
from errorsink._redact_scan import Scanner
from tests.redact import secrets

SECRET = secrets.password("redactor")


def test_a_text_without_secrets_is_returned_as_it_is() -> None:
    """The same object: no copy is made."""
    text = "nothing to hide"
    assert Redactor().redact(text) is text


def test_a_disabled_kind_is_not_masked() -> None:
    """`disable` takes rows out of the table."""
    assert Redactor(disable=["us-ssn"]).redact("123-45-6789") == "123-45-6789"


def test_a_kind_that_is_off_by_default_can_be_enabled() -> None:
    """Public addresses are masked on request only."""
    assert Redactor(enable=["public-ip"]).redact("from 8.8.8.8") == "from [REDACTED:public-ip]"


@pytest.mark.parametrize(
    "text", ["tenant_ref=§", "tenantRef: '§'", "X-Tenant-Ref: §", "TENANT_REF=§", '{"tenant ref": "§"}', "tenantref=§"]
)
def test_a_key_of_ones_own_is_masked_in_any_spelling(text: str) -> None:
    """`keys` adds names."""
    redacted = Redactor(keys=["tenant-ref"]).redact(text.replace("§", SECRET))
    assert redacted == text.replace("§", "[REDACTED:custom-key]")


def test_a_key_of_ones_own_does_not_match_inside_a_word() -> None:
    """`pin` isn't in `spin`."""
    assert Redactor(keys=["pin"]).redact("spin=abc123 pinned=abc123") == "spin=abc123 pinned=abc123"


@pytest.mark.parametrize("key", ["", " ", "a", "*", "[0-9]*", "(", "_-.", "1", "é", "x" * 65, ".*"])
def test_an_unusable_key_is_refused(key: str) -> None:
    """A name that matches everything or nothing."""
    with pytest.raises(ValueError, match="no usable key name; allowed are"):
        Redactor(keys=[key])


@pytest.mark.parametrize("option", ["disable", "enable"])
def test_an_unknown_kind_is_refused(option: str) -> None:
    """The message names the value and the kinds there are."""
    with pytest.raises(ValueError, match=r"'pasword'; the kinds are .*password"):
        Redactor(disable=["pasword"] if option == "disable" else (), enable=["pasword"] if option == "enable" else ())


@pytest.mark.parametrize("option", ["disable", "enable", "keys"])
def test_a_string_for_a_collection_is_refused(option: str) -> None:
    """Its letters would be taken for names."""
    arguments: dict[str, Any] = {option: "password"}
    with pytest.raises(ValueError, match="expected a collection of names, got the string 'password'"):
        Redactor(**arguments)


def test_a_hook_may_hide_more() -> None:
    """It runs after the rules, on masked text."""
    redactor = Redactor(hook=lambda text: text.replace("Project X", "[SECRET PROJECT]"))
    assert redactor.redact(f"Project X password={SECRET}") == "[SECRET PROJECT] password=[REDACTED:password]"


def test_a_hook_sees_no_secret() -> None:
    """What it gets is masked already."""
    seen: list[str] = []
    Redactor(hook=lambda text: seen.append(text) or text).redact(f"password={SECRET}")  # type: ignore[func-returns-value]
    assert seen == ["password=[REDACTED:password]"]


def test_a_hook_cannot_bring_a_secret_back() -> None:
    """The rules run again on what it returns."""
    redactor = Redactor(hook=lambda text: f"password={SECRET}")
    assert redactor.redact("x") == "password=[REDACTED:password]"


def _raises(text: str) -> str:
    raise RuntimeError(text)


@pytest.mark.parametrize("hook", [_raises, lambda text: None, lambda text: b"x", lambda text: 1])
def test_a_failing_hook_hides_the_whole_text(hook: Callable[[str], str]) -> None:
    """It raises, or returns something else than text."""
    redactor = Redactor(hook=hook)
    assert redactor.redact("harmless") == ERROR
    assert redactor.counts() == {"error": 1}


def _forgets(text: str) -> Any:
    return None


@pytest.mark.parametrize(
    ("hook", "what"),
    [(_raises, "raised RuntimeError"), (_forgets, "returned NoneType instead of str"), (str.upper, None)],
)
def test_that_a_hook_fails_is_told_once(
    hook: Callable[[str], str], what: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """On standard error, with nothing of what it was given or said; what it was given is hidden."""
    errorsink.configure(redact=hook)
    errorsink.report_error(ValueError("one"))
    errorsink.report_error(ValueError("two"))
    messages = [record.message for record in errorsink.recent_errors()]
    assert messages == ([ERROR, ERROR] if what else ["ONE", "TWO"])
    told = f"errorsink: the function given to configure(redact=…) {what}; what it was given is shown as {ERROR}\n"
    assert capsys.readouterr().err == (told if what else "")


@pytest.mark.parametrize("signal", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_passes_through(signal: type[BaseException]) -> None:
    """Ctrl-C during redaction is the application's."""

    def interrupted(text: str) -> str:
        raise signal

    with pytest.raises(signal):
        Redactor(hook=interrupted).redact("x")


@pytest.mark.parametrize("failure", [RuntimeError, RecursionError, MemoryError])
def test_a_failure_of_the_engine_hides_the_whole_text(
    failure: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redaction fails closed."""

    def fail(self: Scanner, text: str) -> list[tuple[int, int, int]]:
        raise failure

    monkeypatch.setattr(Scanner, "scan", fail)
    assert Redactor().redact(f"password={SECRET}") == ERROR


def test_the_mask_is_a_constant() -> None:
    """Secrets of different lengths leave the same text."""
    redactor = Redactor()
    assert redactor.redact(f"password={SECRET}") == redactor.redact(f"password={SECRET * 9}")


def test_overlapping_secrets_become_one_mask_of_the_more_telling_kind() -> None:
    """A token that is known by its prefix, in the value of a key."""
    token = secrets.TOKENS["github-token"][0](7)
    assert Redactor().redact(f"password='{token}'") == "password='[REDACTED:github-token]'"


def test_hits_are_counted_by_kind() -> None:
    """Kinds without a hit are left out."""
    redactor = Redactor()
    redactor.redact(f"password={SECRET} and 123-45-6789")
    redactor.redact(f"password={SECRET}")
    assert redactor.counts() == {"password": 2, "us-ssn": 1}


def test_a_masked_text_counts_nothing() -> None:
    """Redacting twice counts once."""
    redactor = Redactor()
    redactor.redact(redactor.redact(f"password={SECRET}"))
    assert redactor.counts() == {"password": 1}


def test_no_hit_is_lost_between_threads() -> None:
    """The ring is rendered on a caller's thread while the render thread redacts."""
    redactor = Redactor()

    def work() -> None:
        for _ in range(200):
            redactor.redact(f"password={SECRET}")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert redactor.counts() == {"password": 800}


SENSITIVE = words(
    "password db.password DB_PASSWORD dbPassword userpassword passwd pwd passphrase password2 password_hash",
    "X-Api-Key apiKey api_key access-token refreshToken secret client_secret SECRET_KEY_BASE private_key csrf_token",
    "Authorization http.request.header.authorization cookie Set-Cookie sessionId PHPSESSID aws_secret_access_key",
    "jwt credentials auth otp cvv card_number ssn",
)

HARMLESS = words(
    "author authority authored tokenizer session_count max_tokens token_count token_type secretary keyboard monkey key",
    "order.id user pass_rate bypass passenger compass has_password is_secret password_length cookie_count design",
    "inside primary_key foreign_key key_count http.request.method exception.type sidecar adopt",
)


@pytest.mark.parametrize("key", SENSITIVE)
def test_a_sensitive_key_is_known_in_any_spelling(key: str) -> None:
    """Case, separators and camelCase don't matter."""
    assert Redactor().is_sensitive_key(key)


@pytest.mark.parametrize("key", [*HARMLESS, "", "  ", "é", "\ud800", "1"])
def test_a_harmless_key_is_not_sensitive(key: str) -> None:
    """A word in it is not the name itself."""
    assert not Redactor().is_sensitive_key(key)


def test_a_key_of_ones_own_is_sensitive() -> None:
    """`keys` holds for attributes as well."""
    assert Redactor(keys=["tenant ref"]).is_sensitive_key("app.tenantRef")


def test_a_key_of_a_disabled_kind_is_not_sensitive() -> None:
    """`disable` holds for attributes as well."""
    assert not Redactor(disable=["password"]).is_sensitive_key("password")


def test_a_sensitive_key_masks_the_whole_value() -> None:
    """Also a value that no rule knows."""
    assert Redactor().redact_value("db.password", "correct horse") == "[REDACTED:password]"


def test_another_key_has_its_value_redacted_as_text() -> None:
    """The rules apply to it."""
    assert Redactor().redact_value("url", f"redis://:{SECRET}@h/") == "redis://:[REDACTED:url-password]@h/"


@pytest.mark.parametrize("value", ["", "[REDACTED:password]"])
def test_a_value_with_nothing_to_hide_stays(value: str) -> None:
    """An empty one, and one that is masked already."""
    assert Redactor().redact_value("password", value) == value
