"""The names under which secrets are kept: `password`, `api_key`, `dbPassword`, `X-Auth-Token`, `SECRET_KEY_BASE`."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from errorsink._redact_rules._rule import words

SEPARATORS = ("_", "-", ".", " ")


class Term(NamedTuple):
    """One sensitive name, as its lower-case segments.

    A ``fused`` term may stand at the end of a longer word (`dbpassword`, `userToken`); any other must be a word or a
    camelCase part of its own (`pass`, but not `bypass`). A ``plain`` term names a thing that people also write about (a
    lexer's `token`): in running text its value must look like a secret.
    """

    kind: str
    segments: tuple[str, ...]
    fused: bool = True
    plain: bool = False

    def literals(self) -> Iterable[str]:
        """The spellings, in lower case, that show that the term may be there."""
        yield "".join(self.segments)
        if len(self.segments) > 1:
            for separator in SEPARATORS:
                yield separator.join(self.segments)


def _terms(kind: str, names: str, *, fused: bool = True, plain: bool = False) -> tuple[Term, ...]:
    return tuple(Term(kind, tuple(name.split("_")), fused, plain) for name in names.split())


MEANINGS = {
    "aws-secret-key": "AWS secret access key, by its name",
    "datadog-key": "Datadog API or application key, by its name",
    "api-key": "value of an API key, by its name",
    "encryption-key": "value of a private, signing or encryption key, by its name",
    "card-security-code": "card number or security code, by its name",
    "one-time-code": "one-time code, by its name",
    "session-id": "session id, by its name",
    "credential": "value of a credential, by its name",
    "secret": "value of a secret, by its name",
    "token": "value of a token, by its name",
    "password": "value of a password, by its name",
}
"""The keyed kinds, the most telling first: where two overlap, the first names the mask."""

TERMS = (
    *_terms("aws-secret-key", "secret_access_key aws_secret_key aws_secret"),
    *_terms(
        "datadog-key",
        "dd_api_key dd_app_key dd_application_key datadog_api_key datadog_app_key datadog_application_key",
    ),
    *_terms(
        "api-key",
        "api_key access_key app_key application_key auth_key service_key subscription_key integration_key license_key",
    ),
    *_terms(
        "encryption-key",
        "private_key signing_key encryption_key decryption_key master_key account_key shared_key storage_key hmac_key",
    ),
    *_terms("card-security-code", "card_number security_code"),
    *_terms("card-security-code", "cvv cvc cvn", fused=False),
    *_terms("one-time-code", "verification_code mfa_code recovery_code backup_code passcode"),
    *_terms("one-time-code", "otp totp", fused=False),
    *_terms("session-id", "session_id session_key sess_id"),
    *_terms("session-id", "sid", fused=False, plain=True),
    *_terms("credential", "credential credentials", plain=True),
    *_terms("credential", "auth ssn", fused=False, plain=True),
    *_terms("secret", "secret secret_key"),
    *_terms("token", "token", plain=True),
    *_terms("token", "jwt csrf xsrf", fused=False, plain=True),
    *_terms("password", "password passwd passphrase passwort"),
    *_terms("password", "pass pwd", fused=False),
)

ATTRIBUTE_TERMS = (
    *_terms("authorization", "authorization"),
    *_terms("cookie", "cookie cookies"),
)
"""Names whose values in running text have rules of their own; as an attribute's key they mask the whole value."""

_TAILS = words(
    "hash hashed value raw text plain plaintext base64 b64 hex encoded str string base header param",
    "old new current previous prev confirm confirmation confirmed repeat again primary secondary main backup ro rw",
    "env prod production dev development test testing live staging stage",
)
"""What may follow the term and leave it sensitive.

`password_hash`, `SECRET_KEY_BASE`. `token_count` or `secretName` name something else.
"""

_TAIL = "|".join(sorted(_TAILS, key=len, reverse=True))
TAIL = rf"(?:[_.-]?(?:{_TAIL})(?![a-z])){{0,2}}(?:[_-]?[0-9]{{1,3}})?(?![A-Za-z0-9_])"
"""The pattern of it; to be used without regard to case."""

_LONGEST_KEY = 256
_NEGATIONS = frozenset(
    {"has", "is", "no", "num", "max", "min", "use", "needs", "requires", "require", "allow", "enable", "count", "total"}
)
_SEGMENT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", re.ASCII)


def segments(key: str) -> list[str]:
    """`X-Api-Key2`, `xApiKey2` and `x.api_key_2` all become `x`, `api`, `key`, `2`."""
    return [part.lower() for part in _SEGMENT.findall(key)]


class KeyNames:
    """Tells which keys are sensitive: those that end in a term, apart from tails. `token_count` does not."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self._kinds: dict[tuple[str, ...], str] = {}
        fused: dict[str, str] = {}
        for term in terms:
            joined = "".join(term.segments)
            self._kinds.setdefault(term.segments, term.kind)
            self._kinds.setdefault((joined,), term.kind)
            if term.fused:
                fused.setdefault(joined, term.kind)
        self._longest = max(map(len, self._kinds), default=0)
        self._fused = dict(sorted(fused.items(), key=lambda item: -len(item[0])))
        self._endings = tuple(self._fused)

    def kind(self, key: str) -> str | None:
        """The kind of secret that the key names, or None."""
        parts = segments(key[-_LONGEST_KEY:])
        if len(parts) > 1 and parts[0] in _NEGATIONS:
            return None
        while parts:
            for size in range(min(self._longest, len(parts)), 0, -1):
                kind = self._kinds.get(tuple(parts[-size:]))
                if kind is not None:
                    return kind
            if parts[-1].endswith(self._endings):
                return next(kind for ending, kind in self._fused.items() if parts[-1].endswith(ending))
            if parts[-1] not in _TAILS and not parts[-1].isdigit():
                return None
            parts.pop()
        return None


def custom_term(name: str) -> Term:
    """A term for a name that the user gives.

    Raises:
        ValueError: it has fewer than two letters or digits, or a character that is no part of a name.
    """
    parts = tuple(segments(name))
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_. -]{0,63}", name, re.ASCII) is None or sum(map(len, parts)) < 2:
        raise ValueError(
            f"keys: {name!r} is no usable key name; allowed are 2 to 64 letters, digits, '_', '-', '.' and spaces, "
            "a letter first"
        )
    return Term("custom-key", parts, fused=False)
