"""What belongs to a person: cards, accounts, addresses, the user's name in a path. Numbers must pass their checksum."""

import re

from errorsink._redact_rules._rule import WORD, Rule, Span, View, matching, starts_word, words

# --- payment cards ------------------------------------------------------------------------------------------------

_CARD = re.compile(
    r"(?:\d{13,19}|\d{4}(?P<gap>[ -])\d{4}(?P=gap)\d{4}(?P=gap)\d{4}(?:(?P=gap)\d{3})?"
    r"|\d{4}(?P<amex>[ -])\d{6}(?P=amex)\d{5})"
    r"(?![\w-]|\.\d)",
    re.ASCII,
)
_ISSUERS = (
    (re.compile(r"4"), (13, 16, 19)),  # Visa
    (re.compile(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), (16,)),  # Mastercard
    (re.compile(r"3[47]"), (15,)),  # American Express
    (re.compile(r"6011|64[4-9]|65"), (16, 19)),  # Discover
    (re.compile(r"35(?:2[89]|[3-8])"), (16, 19)),  # JCB
    (re.compile(r"30[0-5]|36|3[89]"), (14,)),  # Diners Club
    (re.compile(r"62"), (16, 17, 18, 19)),  # UnionPay
    (re.compile(r"5018|5020|5038|5893|6304|6759|676[1-3]"), (13, 14, 15, 16, 17, 18, 19)),  # Maestro
)
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def passes_luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of ISO/IEC 7812."""
    reverse = [int(digit) for digit in reversed(digits)]
    return (sum(reverse[::2]) + sum(_DOUBLED[digit] for digit in reverse[1::2])) % 10 == 0


def _card(text: str, start: int, stop: int) -> Span | None:
    if not starts_word(text, start, "-.") or text[max(0, start - 2) : start].strip("0123456789") == " ":
        return None  # in a longer number, or in a longer row of groups
    match = _CARD.match(text, start)
    if match is None:
        return None
    digits = "".join(character for character in match[0] if character.isdigit())
    issued = any(prefix.match(digits) and len(digits) in lengths for prefix, lengths in _ISSUERS)
    return match.span() if issued and len(set(digits)) > 1 and passes_luhn(digits) else None


# --- accounts and identities --------------------------------------------------------------------------------------

_IBAN_LENGTHS = {
    code[:2]: int(code[2:])
    for code in words(
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29",
        "ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20",
        "LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29",
        "PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST23 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20",
        "YE30",
    )
}
_IBAN = re.compile(r"[A-Z]{2}\d{2}(?:[A-Z0-9]{11,29}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,4})?)", re.ASCII)


def passes_mod_97(iban: str) -> bool:
    """Whether the check digits of ISO 13616 are right: the number made of it leaves 1 when divided by 97."""
    return int("".join(str(int(character, 36)) for character in iban[4:] + iban[:4])) % 97 == 1


def _iban(text: str, start: int, stop: int) -> Span | None:
    """The account number, with or without spaces after each fourth character."""
    length = _IBAN_LENGTHS.get(text[start : start + 2])
    if length is None or not starts_word(text, start, "-."):
        return None
    match = _IBAN.match(text, start)
    if match is None:
        return None
    spaced = " " in match[0]
    end = start + (length + (length - 1) // 4 if spaced else length)
    iban = text[start:end].replace(" ", "")
    if len(iban) != length or not iban.isalnum() or not iban.isascii() or text[end : end + 1] in WORD:
        return None
    return (start, end) if iban == iban.upper() and passes_mod_97(iban) else None


# --- e-mail -------------------------------------------------------------------------------------------------------

_LOCAL_PART = WORD | frozenset(".+-'&!#%")
_LONGEST_LOCAL_PART = 64  # RFC 5321, 4.5.3.1.1
_DOMAIN = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}(?P<top>[A-Za-z]{2,24})(?![A-Za-z0-9_-])", re.ASCII)
_LONGEST_USERINFO = 320
_NO_USERINFO = re.compile(r"[\s/?#\"'<>]")
_NO_TOP_DOMAINS = frozenset(
    words(
        "png jpg jpeg gif svg webp css js ts json yaml yml toml lock tgz gz zip tar whl exe dll",
        "service socket timer mount target slice scope local internal localhost",
    )
)
_SOFTWARE = frozenset({"git", "hg", "svn"})


def _email(text: str, start: int, stop: int) -> Span | None:
    """An address. Not `git@host`, `logo@2x.png`, `user@1000.service`, and not `a@b.T`, which multiplies matrices."""
    domain = _DOMAIN.match(text, stop) if text[stop : stop + 1] in WORD else None
    if domain is None or domain["top"].lower() in _NO_TOP_DOMAINS:
        return None
    first = start
    while first > 0 and start - first <= _LONGEST_LOCAL_PART and text[first - 1] in _LOCAL_PART:
        first -= 1
    if start - first > _LONGEST_LOCAL_PART:
        return None
    if text[first - 1 : first] == "\\" and text[first] in "nrt":
        first += 1
    while first < start and text[first] not in WORD:
        first += 1
    local = text[first:start]
    if not local or local in _SOFTWARE or not local[-1].isalnum() or _is_userinfo(text, first):
        return None
    one_letter_each = len(local) == 1 and text[stop + 1] == "."
    return None if one_letter_each else (first, domain.end())


def _is_userinfo(text: str, position: int) -> bool:
    """Whether what begins here is in the `user:password@` of a URL: it's no address, and the host must stay."""
    slashes = text.rfind("//", max(0, position - _LONGEST_USERINFO), position)
    return slashes >= 0 and _NO_USERINFO.search(text, slashes + 2, position) is None


# --- the user's name in a path ------------------------------------------------------------------------------------

_POSIX_USER = re.compile(r"/(?:home|Users)/(?P<user>[^/\\\s\"'`:;,<>|()\[\]{}*?=&$]{1,64})", re.ASCII)
_WINDOWS_USER = re.compile(
    r"[\\/]{1,4}(?:users|documents and settings)[\\/]{1,4}"
    r"(?P<user>[^/\\\"'`:;,<>|()\[\]{}*?=&$%\r\n]{1,64}(?=[\\/])|[^/\\\s\"'`:;,<>|()\[\]{}*?=&$%]{1,64})",
    re.ASCII | re.IGNORECASE,
)
_PATH_ABOVE = re.compile(
    r"(?:/mnt/[a-z]|/cygdrive/[a-z]|(?<![\w/])/[a-z]|/host_mnt/[a-z]|/var|/usr|/export|/Volumes/Data|file://)\Z"
)
_DRIVE_ABOVE = re.compile(r"(?:[A-Za-z]:|\\[\w.$-]{1,64})\Z", re.ASCII)
_MOST_SLASHES = 4
_NOBODY = frozenset(
    {"all users", "default user"}.union(
        words("default public shared svc runner runneradmin root containeradministrator containeruser site linuxbrew")
    )
)


def _home_user(text: str, start: int, stop: int) -> Span | None:
    """The directory's name below `/home` or `/Users`. Accounts that belong to nobody (`runner`, `Public`) stay."""
    if not starts_word(text, start, ".-/") and _PATH_ABOVE.search(text[max(0, start - 24) : start]) is None:
        return None
    match = _POSIX_USER.match(text, start)
    return None if match is None else _somebody(match)


def _windows_user(text: str, start: int, stop: int) -> Span | None:
    r"""The same below `C:\Users` or a share; backslashes may be doubled, as repr does, and stay as they are."""
    first = start
    while first > 0 and start - first < _MOST_SLASHES and text[first - 1] in "\\/":
        first -= 1
    if first == start or _DRIVE_ABOVE.search(text[max(0, first - 66) : first]) is None:
        return None
    match = _WINDOWS_USER.match(text, first)
    return None if match is None else _somebody(match)


def _somebody(match: re.Match[str]) -> Span | None:
    user = match["user"].rstrip(". ")
    first = match.start("user")
    nobody = not user or user.lower() in _NOBODY or user.startswith(("[REDACTED", "%", "~", "…"))
    return None if nobody else (first, first + len(user))


# --- public IP addresses (off by default) -------------------------------------------------------------------------

_IPV4 = re.compile(r"(?P<a>\d{1,3})\.(?P<b>\d{1,3})\.(?P<c>\d{1,3})\.(?P<d>\d{1,3})(?![\w-]|\.\d)", re.ASCII)
_IPV6 = re.compile(r"[23][0-9a-f]{3}(?::[0-9a-f]{0,4}){2,7}(?![\w:])", re.ASCII | re.IGNORECASE)


def _public_ip(text: str, start: int, stop: int) -> Span | None:
    """A routable address: not private, loopback, link-local, shared, documentation or multicast (RFC 6890)."""
    if text[start] == ":":
        start -= 4
        match = _IPV6.match(text, start) if start >= 0 and starts_word(text, start, ":.-") else None
        return None if match is None or match[0].lower().startswith("2001:db8") else match.span()
    first = start
    while first > 0 and start - first < 4 and text[first - 1].isdigit():
        first -= 1
    match = _IPV4.match(text, first) if starts_word(text, first, ".-") else None
    if match is None:
        return None
    a, b, c, d = (int(part) for part in match.groups())
    return match.span() if max(a, b, c, d) <= 255 and _is_routable(a, b, c) else None


def _is_routable(a: int, b: int, c: int) -> bool:
    special = (
        a in (0, 10, 127)
        or a >= 224
        or (a == 100 and 64 <= b <= 127)
        or (a == 169 and b == 254)
        or (a == 172 and 16 <= b <= 31)
        or (a == 192 and (b == 168 or (b == 0 and c in (0, 2))))
        or (a == 198 and (b in (18, 19) or (b == 51 and c == 100)))
        or (a == 203 and b == 0 and c == 113)
    )
    return not special


# --- the table ----------------------------------------------------------------------------------------------------

RULES = (
    Rule(
        "payment-card",
        "payment card number: a known issuer and a valid check digit",
        ("0000 0000 0000 ", "0000-0000-0000-", "0000 000000 ", "0000-000000-", "0000000000000"),
        _card,
        View.SHAPE,
    ),
    Rule("iban", "bank account number (IBAN) with valid check digits", ("AA00",), _iban, View.SHAPE),
    Rule(
        "us-ssn",
        "US social security number",
        ("000-00-0000",),
        matching(r"(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-]|\.\d)", joiners="-.+/"),
        View.SHAPE,
    ),
    Rule("email", "e-mail address", ("@", "%40"), _email),
    Rule("home-user", "user name in the path of a home directory", ("/home/", "/Users/"), _home_user),
    Rule(
        "windows-user",
        "user name in the path of a Windows profile",
        ("users\\", "users/", "documents and settings\\"),
        _windows_user,
        View.FOLDED,
    ),
    Rule("public-ip", "public IP address", (".", ":"), _public_ip, default=False),
)
