"""Credentials in HTTP headers: as on the wire, as a dict or a list of pairs, percent-encoded, in a log line."""

import re
from binascii import Error as NotBase64
from binascii import a2b_base64

from errorsink._redact_rules._rule import MASK_OPENING, Rule, Span, View, matching, starts_word, words
from errorsink._redact_rules._values import is_shaped


def _is_not_a_word(match: re.Match[str]) -> bool:
    """`Bearer authentication` names no token."""
    return is_shaped(match["secret"], 8)


def _is_user_and_password(match: re.Match[str]) -> bool:
    """Whether the text after `Basic` decodes to printable `user:password`, as RFC 7617 says."""
    value = match["secret"]
    value = value.rstrip("=")
    try:
        decoded = a2b_base64(value + "=" * (-len(value) % 4)).decode("utf-8")
    except (NotBase64, ValueError):
        return False
    return ":" in decoded and decoded.isprintable()


_HEADER_GAP = (
    r"(?:(?:\\{0,3}[\"']|%2[27])[ \t]{0,4}(?P<comma>,)|(?:\\{0,3}[\"']|%2[27])?[ \t]{0,4}(?:[:=]|%3[AaDd]|=>))"
    r"[ \t+]{0,4}(?:%20){0,2}\[?b?(?:\\{0,3}(?P<quote>[\"'])|%2[27])?"
)
"""What stands between a header's name and its value: as on the wire, as a dict or a list of pairs, percent-encoded."""

_AUTHORIZATION = re.compile(
    r"authorization"
    + _HEADER_GAP
    + r"(?!\[REDACTED:)(?:(?P<scheme>[A-Za-z][A-Za-z0-9-]{1,31})(?:[ \t+]{1,4}|(?:%20){1,2}))?",
    re.ASCII | re.IGNORECASE,
)
_SCHEMES_OF_PARAMETERS = frozenset(
    {"digest", "aws4-hmac-sha256", "aws4-ecdsa-p256-sha256", "oauth", "hawk", "signature", "mac"}
)
_SCHEMES_OF_ONE_TOKEN = frozenset(
    words(
        "basic bearer token negotiate ntlm apikey api-key key sharedkey sharedkeylite jwt dpop googlelogin sso-key",
        "zoho-oauthtoken genie-key privatetoken splunk bot discogs snowflake",
    )
)
_NO_CREDENTIAL = (MASK_OPENING, "{", "$", "%s", "%(", "*")
_CREDENTIAL = re.compile(r"[^\s\"'<>,;\\)\]}]+", re.ASCII)
_PARAMETERS = re.compile(r"[^\r\n\\']+", re.ASCII)


def _authorization(text: str, start: int, stop: int) -> Span | None:
    """The credential of an Authorization header; the scheme stays. `authorization denied for user 42` has none."""
    head = _AUTHORIZATION.match(text, start)
    if head is None:
        return None
    scheme = (head["scheme"] or "").lower()
    position = head.end()
    if scheme in _SCHEMES_OF_PARAMETERS:
        return _parameters(text, position)
    if head["comma"] and not scheme:
        return None  # a list of header names
    if scheme and scheme not in _SCHEMES_OF_ONE_TOKEN:
        # Not a scheme: a sentence ("authorization: access denied"), unless a quote or a token says otherwise.
        value = _CREDENTIAL.match(text, position)
        if head["quote"] and value is not None and is_shaped(value[0], 8):
            return value.span()
        return _lone_credential(text, head.start("scheme"), quoted=False)
    return _lone_credential(text, position, quoted=bool(head["quote"] or scheme))


def _parameters(text: str, position: int) -> Span | None:
    """The rest of the line or of the quoted value: `Digest username="…", response="…"`."""
    rest = _PARAMETERS.match(text, position)
    if rest is None or "=" not in rest[0]:
        return None
    closed = rest[0].find('"}')
    return position, position + closed if closed > 0 else rest.end()


def _lone_credential(text: str, position: int, *, quoted: bool) -> Span | None:
    value = _CREDENTIAL.match(text, position)
    if value is None or value[0].startswith(_NO_CREDENTIAL) or text[value.end() : value.end() + 1] == "(":
        return None
    if len(value[0]) < 4 or not (quoted or is_shaped(value[0], 8)):
        return None
    return None if value[0].lower() in {"none", "null", "undefined", "authentication", "credentials"} else value.span()


_COOKIE = re.compile(
    r"cookies?" + _HEADER_GAP + r"(?P<secret>(?!\[REDACTED:)[!#$%&*+.^_`|~0-9A-Za-z-]{1,256}=(?!\[REDACTED:)"
    r"(?:(?<==)\"[^\"\r\n]{0,4096}\"|[^\\\r\n\"'<>]+)+)",
    re.ASCII | re.IGNORECASE,
)
_SET_COOKIE = re.compile(
    r"set-cookie2?" + _HEADER_GAP + r"[!#$%&*+.^_`|~0-9A-Za-z-]{1,256}=(?P<secret>(?!\[REDACTED:)[^;\s\"',\\<>]+)",
    re.ASCII | re.IGNORECASE,
)


def _cookie(text: str, start: int, stop: int) -> Span | None:
    """All pairs of a Cookie header. `Set-Cookie` has a rule of its own, which keeps the attributes."""
    if text[max(0, start - 4) : start].lower() == "set-" or not starts_word(text, start, "-"):
        return None
    match = _COOKIE.match(text, start)
    return None if match is None else match.span("secret")


def _set_cookie(text: str, start: int, stop: int) -> Span | None:
    match = _SET_COOKIE.match(text, start) if starts_word(text, start) else None
    return None if match is None else match.span("secret")


RULES = (
    Rule(
        "basic-credentials",
        "Basic credentials that decode to user:password",
        ("basic ",),
        matching(
            r"basic[ \t]{1,4}(?P<secret>[A-Za-z0-9+/_-]{4,}={0,2})",
            flags=re.IGNORECASE,
            accept=_is_user_and_password,
        ),
        View.FOLDED,
    ),
    Rule(
        "bearer-token",
        "Bearer token",
        ("bearer ", "bearer%20", "bearer+"),
        matching(
            r"bearer(?:[ \t+]{1,4}|%20)(?!\w{1,32}=\\?\")(?P<secret>[A-Za-z0-9._~+/-]{8,}={0,2})",
            flags=re.IGNORECASE,
            accept=_is_not_a_word,
        ),
        View.FOLDED,
    ),
    Rule("authorization", "Authorization header", ("authorization",), _authorization, View.FOLDED, fused=True),
    Rule("cookie", "Cookie header", ("cookie",), _cookie, View.FOLDED),
    Rule("set-cookie", "Set-Cookie header", ("set-cookie",), _set_cookie, View.FOLDED),
    Rule(
        "cookie-jar",
        "cookie in the repr of a cookie jar",
        ("<cookie ",),
        matching(r"<cookie [^\s=<>]{1,256}=(?P<secret>[^\s<>\[]+) for ", flags=re.IGNORECASE, bounded=False),
        View.FOLDED,
    ),
)
