"""Credentials that a format gives away: PEM, JWT, headers, URLs, signed queries, password hashes."""

import re
from binascii import Error as NotBase64
from binascii import a2b_base64

from errorsink._redact_rules._rule import MASK_OPENING, WORD, Rule, Span, View, matching, starts_word, words
from errorsink._redact_rules._values import is_shaped

# --- private keys -------------------------------------------------------------------------------------------------

_PEM_HEADER = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----", re.ASCII)
_PEM_FOOTER = re.compile(r"-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----", re.ASCII)
_PEM_GAP = re.compile(r"(?:\\+[nr]|[\s\"',+\\|>]){0,64}", re.ASCII)
_PEM_FIELD = re.compile(r"(?:Proc-Type|DEK-Info|Version|Comment): ?[\w ,.()/-]{1,120}", re.ASCII)
_PEM_LINE = re.compile(r"[A-Za-z0-9+/=]+(?=\\+[nr]|[\s\"'<\\-]|\Z)", re.ASCII)
_SHORTEST_PEM_BODY = 16


def _private_key(text: str, start: int, stop: int) -> Span | None:
    """The whole block; without an END line (cut off, or one line of it), as many lines as look like base64."""
    header = _PEM_HEADER.match(text, start)
    if header is None:
        return None
    dashes = text.find("-----", header.end())
    footer = _PEM_FOOTER.match(text, dashes) if dashes >= 0 else None
    if footer is not None:
        return (start, footer.end()) if dashes - header.end() >= _SHORTEST_PEM_BODY else None
    end = _end_of_base64_lines(text, header.end())
    return None if end - header.end() < _SHORTEST_PEM_BODY else (start, end)


def _end_of_base64_lines(text: str, position: int) -> int:
    """Where the run of base64 lines ends; a line break may be real, escaped, or one between quoted pieces."""
    end = position
    while True:
        gap = _PEM_GAP.match(text, position)
        position = gap.end() if gap is not None else position
        line = _PEM_FIELD.match(text, position) or _PEM_LINE.match(text, position)
        if line is None or (len(line[0]) < _SHORTEST_PEM_BODY and text[line.end() : line.end() + 1] == " "):
            return end
        end = position = line.end()


# --- headers ------------------------------------------------------------------------------------------------------


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


# --- URLs ---------------------------------------------------------------------------------------------------------

_PORT = r"[0-9]{1,5}(?:[/?#\s\"'\\)\],]|\Z)"
_USERINFO = re.compile(
    r"//(?P<user>[^\s/:@\"'<>?#\[\]]{0,256}):(?!" + _PORT + r")(?!\[REDACTED:)"
    r"(?P<secret>[^\s\"'<>@]{1,1024}(?:@[^\s\"'<>@/?#]{1,256}(?=@)){0,4})@(?=[\w\[.*{%-])",
    re.ASCII,
)
_LONGEST_USERINFO = 1_300
_MOST_DOUBLE_SLASHES = 3
_HOST_START = WORD | frozenset("[.*{%-")
_PLACEHOLDER = re.compile(
    r"[\[{<*$%](?:[^\s]{0,64}[\]}>*)sd])?\Z|\*{1,64}\Z|x{3,64}\Z|\.{3}\Z|password\Z|pass\Z", re.ASCII | re.IGNORECASE
)


def _url_password(text: str, start: int, stop: int) -> Span | None:
    """The password in `//user:password@host`; user and host stay. It may hold `/` or `@` where nobody escaped them."""
    if text[stop : stop + 1] not in _HOST_START:
        return None
    slashes = start
    for _ in range(_MOST_DOUBLE_SLASHES):
        slashes = text.rfind("//", max(0, start - _LONGEST_USERINFO), slashes)
        if slashes < 0:
            return None
        match = _USERINFO.match(text, slashes)
        if match is not None and match.end() > start and text[slashes - 1 : slashes] != "/":
            return None if _PLACEHOLDER.match(match["secret"]) else match.span("secret")
    return None


def _is_no_pair_of_ids(match: re.Match[str]) -> bool:
    """`docker run --user 1000:1000` names ids, and `$USER:$PASSWORD` variables."""
    value = match["secret"]
    return not value.isdigit() and _PLACEHOLDER.match(value) is None


# --- the table ----------------------------------------------------------------------------------------------------

_BASE64 = "[A-Za-z0-9+/]"

RULES = (
    Rule(
        "private-key",
        "PEM or PGP private key, also with \\n escapes or cut off",
        ("-----BEGIN ",),
        _private_key,
        in_code=True,
    ),
    Rule(
        "jwt",
        "JSON Web Token",
        ("eyJ",),
        matching(r"eyJ[\w-]{8,}\.[\w-]{2,}(?:\.[\w-]*(?=\.)|\.[\w-]+){0,3}", joiners="-."),
        in_code=True,
    ),
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
    Rule("url-password", "password in a URL", ("@",), _url_password),
    Rule(
        "command-line-user",
        "password of `--user name:password` on a command line",
        ("-u ", "--user ", "-u'", "--user=", "-u', '", "--user', '"),
        matching(
            r"(?:-u|--user)(?:', '|[ =]?['\"]?)[\w.@+-]{1,64}:(?P<secret>(?!\[REDACTED:)[^\s'\"]{3,})",
            joiners="-",
            accept=_is_no_pair_of_ids,
        ),
    ),
    Rule(
        "aws-signature",
        "signature or session token of a presigned AWS request",
        ("x-amz-signature", "x-amz-security-token"),
        matching(
            r"x-amz-(?:signature|security-token)(?:[\"']?[:=]|%3D)[\s\"']{0,3}(?P<secret>[A-Za-z0-9%+/=_-]{32,})",
            flags=re.IGNORECASE,
        ),
        View.FOLDED,
    ),
    Rule(
        "gcs-signature",
        "signature of a presigned Google Cloud Storage request",
        ("x-goog-signature",),
        matching(r"x-goog-signature(?:=|%3D)(?P<secret>[A-Za-z0-9%+/=_-]{32,})", flags=re.IGNORECASE),
        View.FOLDED,
    ),
    Rule(
        "azure-sas",
        "signature of an Azure shared access URL",
        ("sig=", "sig%3d"),
        matching(r"sig(?:=|%3D)(?P<secret>[A-Za-z0-9%+/_-]{40,}={0,2})", flags=re.IGNORECASE),
        View.FOLDED,
    ),
    Rule(
        "azure-storage-key",
        "Azure storage account key",
        ("accountkey=", "accountkey%3d"),
        matching(rf"accountkey(?:=|%3D)(?P<secret>{_BASE64}{{86}}(?:==|%3D%3D)?)", flags=re.IGNORECASE),
        View.FOLDED,
    ),
    Rule(
        "azure-shared-key",
        "shared access key of an Azure connection string",
        ("sharedaccesskey=", "sharedaccesssignature="),
        matching(r"sharedaccess(?:key|signature)=(?P<secret>[^\s;\"'<>\[]{16,})", flags=re.IGNORECASE),
        View.FOLDED,
    ),
    Rule(
        "password-hash",
        "password hash in crypt form",
        ("$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$", "$argon2", "$scrypt$", "$pbkdf2"),
        matching(
            r"\$(?:2[aby]\$\d\d\$[./A-Za-z0-9]{53}|[56y]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9$]{40,}"
            r"|(?:argon2(?:id|i|d)|scrypt|pbkdf2[a-z0-9-]{0,12})\$[\w$=,./+-]{30,})",
            bounded=False,
        ),
    ),
)
