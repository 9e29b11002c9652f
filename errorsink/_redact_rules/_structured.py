"""Credentials that a format gives away: PEM, JWT, URLs, signed queries, connection strings, password hashes."""

import re

from errorsink._redact_rules._rule import MASK_OPENING, WORD, Rule, Span, View, matching, starts_word
from errorsink._redact_rules._values import Value, closing_quote, is_placeholder, quoted_value, unquoted_word

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


# --- URLs ---------------------------------------------------------------------------------------------------------

_PORT = r"[0-9]{1,5}(?:[/?#\s\"'\\)\],]|\Z)"
_USERINFO = re.compile(
    r"//(?P<user>[^\s/:@\"'<>?#\[\]]{0,256}):(?!" + _PORT + r")(?!\[REDACTED:)"
    r"(?P<secret>[^\s@]{1,1024}(?:@[^\s@/?#]{1,256}(?=@)){0,4})@(?=[\w\[.*{%-])",
    re.ASCII,
)
_OTHER_TEXT = re.compile(r"[\"'`>][,;:)\]}>]|\)[\[\](),;]|</|://")
_LONGEST_USERINFO = 1_300
_MOST_DOUBLE_SLASHES = 3
_HOST_START = WORD | frozenset("[.*{%-")


def _is_stand_in(value: str) -> bool:
    """Whether documentation or a template stands there: `password`, `***`, `{password}`, `$PASSWORD`."""
    return value.lower() in {"password", "pass", "passwd", "pwd"} or is_placeholder(value)


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
            secret = match["secret"]
            return None if _OTHER_TEXT.search(secret) or _is_stand_in(secret) else match.span("secret")
    return None


def _is_no_pair_of_ids(match: re.Match[str]) -> bool:
    """`docker run --user 1000:1000` names ids, and `$USER:$PASSWORD` variables."""
    value = match["secret"]
    return not value.isdigit() and not _is_stand_in(value)


# --- command lines ------------------------------------------------------------------------------------------------

_PASSWORD_OPTION = re.compile(
    r"(?:(?:mysql|mariadb)[a-z-]{0,16}(?:\.exe)?['\"]?[ ,][^\r\n|;&]{0,512}?(?P<quote>[ '\"])-p(?=[^\s,])(?!['\"],)"
    r"|sshpass['\"]?,? {1,2}(?P<listed>['\"]?)-p(?:(?P=listed), (?=['\"])| |))",
    re.ASCII,
)


def _command_line_password(text: str, start: int, stop: int) -> Span | None:
    """The password in `mysql -p…` and `sshpass -p …`, in a line of the shell or in a list of arguments."""
    head = _PASSWORD_OPTION.match(text, start) if starts_word(text, start, "-.") else None
    if head is None:
        return None
    quote = (head["quote"] or "").strip() or (head["listed"] if head[0].endswith("-p") else "")
    position = head.end()
    if quote:
        value: Value | None = Value(position, closing_quote(text, position, quote)[0], quoted=True)
    else:
        value = quoted_value(text, position) or unquoted_word(text, position, text[max(0, start - 256) : position])
    if value is None or value.end - value.start < 3:
        return None
    word = text[value.start : value.end]
    is_port = word.replace(":", "").isdigit()
    return None if is_port or word.startswith(MASK_OPENING) or _is_stand_in(word) else (value.start, value.end)


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
        "command-line-password",
        "password of `mysql -p…` or `sshpass -p …` on a command line",
        ("mysql", "mariadb", "sshpass"),
        _command_line_password,
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
