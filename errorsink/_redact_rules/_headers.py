"""Credentials in HTTP headers: as on the wire, as a dict or a list of pairs, percent-encoded, in a log line."""

import re
from binascii import Error as NotBase64
from binascii import a2b_base64

from errorsink._redact_rules._rule import MASK_OPENING, Rule, Span, View, matching, starts_word, words
from errorsink._redact_rules._values import (
    Value,
    begins_sentence,
    is_annotation,
    is_code,
    is_placeholder,
    is_shaped,
    reads_on,
)


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
    r"(?:(?:\\{0,3}[\"']|%2[27])[ \t]{0,4}(?P<comma>,)"
    r"|(?:\\{0,3}[\"']|%2[27])?[ \t]{0,4}(?:(?P<colon>:|%3[Aa])|=>|=|%3[Dd]))"
    r"[ \t+]{0,4}(?:%20){0,2}\[?(?:b?(?:\\{0,3}(?P<quote>[\"'])|%2[27]))?"
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
_WORDS_FOR_A_CREDENTIAL = re.compile(
    r"(?:[a-z]{1,16}[_-]?)?(?:authentication|authorization|credentials?)|(?:[a-z]{1,16}[_-]){0,3}(?:tokens?|keys?|jwt)",
    re.IGNORECASE,
)
_STATES = frozenset(
    words(
        "absent accepted allowed anonymous auth bad basic bearer blocked broken default digest disabled enabled false",
        "forbidden granted header headers kerberos lacking lost ntlm oauth oauth2 off ok open passed pending present",
        "prefix presented realm rejected scheme schemes skipped success successful succeeded true type unavailable",
        "unsupported yes",
    )
)
"""What is said of an authorization, besides the words that begin a sentence."""
_ENDS_LINE = re.compile(r"[ \t]{0,8}(?:\Z|[\r\n]|\\{1,7}[rn]|%0[AaDd]|\\{0,7}[\"'])")
_LONGEST_STAND_IN = 64
_CREDENTIAL = re.compile(r"[^\s\"'<>,;\\)\]}]+", re.ASCII)
_PARAMETER = re.compile(r"\w{1,32}=\\{0,3}\"", re.ASCII)
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
        return _lone_credential(text, head.start("scheme"), known=False)
    if not scheme:
        return _lone_credential(text, position, known=bool(head["quote"]), alone=bool(head["colon"]))
    if _PARAMETER.match(text, position):
        return None  # a challenge (`Bearer realm="…"`), or a name that has a rule of its own (`Token token="…"`)
    span = _lone_credential(text, position, known=True)
    prose = span is not None and not head["quote"] and head["scheme"].islower()
    return None if span is not None and prose and reads_on(text, Value(*span, quoted=False)) else span


def _parameters(text: str, position: int) -> Span | None:
    """The rest of the line or of the quoted value: `Digest username="…", response="…"`."""
    rest = _PARAMETERS.match(text, position)
    if rest is None or "=" not in rest[0]:
        return None
    closed = rest[0].find('"}')
    return position, position + closed if closed > 0 else rest.end()


def _lone_credential(text: str, position: int, *, known: bool, alone: bool = False) -> Span | None:
    """The token that begins here, unless it stands in for one.

    It must look like a secret, except where a scheme or a quote makes it ``known`` that a credential follows, or where
    it may stand ``alone``: up to the end of its line.
    """
    value = _CREDENTIAL.match(text, position)
    if value is None or value[0].startswith(_NO_CREDENTIAL) or text[value.end() : value.end() + 1] == "(":
        return None
    known = known or (alone and _ENDS_LINE.match(text, value.end()) is not None and not is_code(text, position))
    if len(value[0]) < 4 or not (known or is_shaped(value[0], 8)):
        return None
    return None if _is_stand_in(value[0]) else value.span()


def _is_stand_in(value: str) -> bool:
    """`Bearer token`, `Authorization: required`, `authorization: str`."""
    if len(value) > _LONGEST_STAND_IN:
        return False
    word = value.rstrip(".:!?")
    return (
        is_placeholder(word)
        or word.lower() in _STATES
        or begins_sentence(word)
        or is_annotation(word, 0)
        or _WORDS_FOR_A_CREDENTIAL.fullmatch(word) is not None
    )


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
