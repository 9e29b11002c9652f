"""The same secret in every notation: masked each time, the name beside it kept."""

from __future__ import annotations

import json
import re
import urllib.parse
from dataclasses import dataclass, field
from typing import Any

import pytest

from errorsink._redact import Redactor
from tests.redact import secrets

REDACTOR = Redactor()
SECRET = secrets.password("notations")


@dataclass
class Login:
    """Something whose repr shows a password."""

    user: str
    password: str
    roles: list[str] = field(default_factory=list)


class SecretString:
    """A wrapper that forgets to hide."""

    def __init__(self, value: str) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"SecretString({self.value!r})"


DOCUMENT: dict[str, Any] = {"user": "bob", "password": SECRET, "roles": ["a"]}

NOTATIONS = {
    "repr of a dict": repr(DOCUMENT),
    "repr of a repr": repr(repr(DOCUMENT)),
    "repr of a repr of a repr": repr(repr(repr(DOCUMENT))),
    "repr of a dataclass": repr(Login("bob", SECRET)),
    "repr of bytes": repr({b"password": SECRET.encode()}),
    "repr of a wrapper": repr({"password": SecretString(SECRET)}),
    "repr of a list of pairs": repr(list({"user": "bob", "X-Api-Key": SECRET}.items())),
    "repr of raw headers": repr([(b"x-auth-token", SECRET.encode())]),
    "repr of a list of values": repr(urllib.parse.parse_qs(f"a=1&token={SECRET}")),
    "JSON": json.dumps(DOCUMENT),
    "JSON, indented": json.dumps(DOCUMENT, indent=2),
    "JSON, compact": json.dumps(DOCUMENT, separators=(",", ":")),
    "JSON in JSON": json.dumps({"body": json.dumps(DOCUMENT)}),
    "JSON in JSON in JSON": json.dumps({"x": json.dumps({"body": json.dumps(DOCUMENT)})}),
    "JSON, percent-encoded": urllib.parse.quote(json.dumps(DOCUMENT)),
    "query": f"GET /x?{urllib.parse.urlencode(DOCUMENT)}&page=2",
    "query, percent-encoded": urllib.parse.quote(f"https://h/x?password={SECRET}&page=2", safe=""),
    "broken query": f"http://h/a?b=c?password={SECRET}",
    "matrix parameter": f"http://h/a;jsessionid={SECRET}?x=1",
    "environment": f"DB_PASSWORD={SECRET}\nHOME=/",
    "exported": f"export API_TOKEN='{SECRET}'",
    "environment of a process": f"os.environ['DB_PASSWORD'] = '{SECRET}'",
    "YAML": f"db:\n  user: bob\n  password: {SECRET}\n",
    "YAML, quoted": f'  password: "{SECRET}"\n',
    "TOML": f'password = "{SECRET}"',
    "INI": f"password = {SECRET}",
    "properties": f"db.password={SECRET}",
    "hash rocket": f":password => '{SECRET}'",
    "XML": f"<login><user>bob</user><password>{SECRET}</password></login>",
    "XML with a namespace": f'<wsse:Password Type="text">{SECRET}</wsse:Password>',
    "XML attribute": f'<login user="bob" password="{SECRET}"/>',
    "XML key and value": f'<add key="Password" value="{SECRET}"/>',
    "HTML input": f'<input name="password" value="{SECRET}">',
    "form part": f'Content-Disposition: form-data; name="password"\r\n\r\n{SECRET}\r\n--x',
    "argument": f"mysql --user bob --password {SECRET} --host h",
    "argument with a sign": f"mysql --password={SECRET} --host h",
    "argument list": repr(["mysql", "--password", SECRET, "--host", "h"]),
    "header": f"X-Api-Key: {SECRET}\r\nHost: h",
    "curl": f"curl -H 'X-Auth-Token: {SECRET}' https://h",
    "ADO": f"Server=h;User Id=sa;Password={SECRET};Encrypt=yes",
    "ADO, short": f"Server=h;Uid=sa;Pwd={SECRET}",
    "libpq": f"host=h user=bob password={SECRET} dbname=x",
    "libpq, quoted": f"host=h password='{SECRET}' dbname=x",
    "prose": f"login failed: the password is {SECRET}",
    "prose, quoted": f"password '{SECRET}' was rejected",
    "prose, provided": f"Incorrect API key provided: {SECRET}.",
    "netrc": f"machine h login bob password {SECRET}",
    "assertion": f"assert password == '{SECRET}'",
    "logfmt": f"level=error user=bob token={SECRET} path=/x",
    "coloured": f"\x1b[31mpassword\x1b[0m \x1b[1mpassword={SECRET}\x1b[0m",
    "escaped line break": f"bad line\\npassword={SECRET}\\nnext",
    "authorization, unknown scheme": f"Authorization: Token {SECRET}",
    "basic authentication of requests": f"auth=('bob', '{SECRET}')",
}


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_secret_is_masked_in_any_notation(notation: str) -> None:
    """No part of it stays, while there is a mask."""
    redacted = REDACTOR.redact(NOTATIONS[notation])
    assert not any(SECRET[start : start + 8] in redacted for start in range(len(SECRET) - 7))


@pytest.mark.parametrize("notation", NOTATIONS)
def test_what_stands_around_the_secret_stays(notation: str) -> None:
    """Only the secret goes: put back where its mask is, it makes the same text."""
    redacted = REDACTOR.redact(NOTATIONS[notation])
    kinds = REDACTOR.kinds()
    for kind, _, _ in kinds:
        redacted = redacted.replace(f"[REDACTED:{kind}]", SECRET)
    if notation != "basic authentication of requests":  # the pair is masked as a whole
        assert redacted == NOTATIONS[notation]


SYMBOLS = [
    "Ab1,cdefgh2",
    "Ab1;cdefgh2",
    "Ab1)cdefgh2",
    "Ab1}cdefgh2",
    "Ab1'cdefgh2",
    'Ab1"cdefgh2',
    "Ab1<cdefgh2",
    "Ab1>cdefgh2",
    "Ab1&cdefgh2",
    "Ab1%cdefgh2",
    "Ab1$cdefgh2",
    "Ab1:cdefgh2",
    "Ab1=cdefgh2",
    "Ab1(cdefgh2",
]


@pytest.mark.parametrize("password", SYMBOLS)
def test_punctuation_in_an_unquoted_password_does_not_end_it(password: str) -> None:
    """Generated passwords have punctuation; none of the characters behind it may stay."""
    assert "cdefgh2" not in REDACTOR.redact(f"DB_PASSWORD={password}")


BRACED = [
    "jdbc:sqlserver://h;user=sa;password={%s};encrypt=true",
    "Driver={ODBC Driver 18};Uid=sa;PWD={%s}",
    "PASSWORD={%s};SERVER=db",
    "'Uid=sa;Pwd={%s};Encrypt=yes'",
]


@pytest.mark.parametrize("text", BRACED)
@pytest.mark.parametrize("password", ["hun;ter22", "Ab1=c;d2}}e", "a@b#Cd"])
def test_a_password_in_braces_is_masked(text: str, password: str) -> None:
    """As drivers want one that holds a semicolon; masking again changes nothing."""
    once = REDACTOR.redact(text % password)
    assert (once, REDACTOR.redact(once)) == (text % "[REDACTED:password]", once)


@pytest.mark.parametrize("field", ["{password}", "{password1!r}", "{cfg.password1}", "{get(key1)}", "{****}"])
def test_a_field_of_a_template_stays(field: str) -> None:
    """What may be a name or an expression is no password in braces."""
    assert REDACTOR.redact(f"Uid=sa;PWD={field};Encrypt=yes") == f"Uid=sa;PWD={field};Encrypt=yes"


ENDINGS = {
    "ADO": "Server=h;Password={};Encrypt=yes",
    "ADO, last": "Server=h;Password={}",
    "query": "GET /x?password={}&page=2 HTTP/1.1",
    "YAML": "  password: {}\n  user: bob",
    "in quotes": "login with 'user=bob password={}' failed",
    "in brackets": "login failed (password={})",
    "in a list": "user=bob, password={}, host=h",
    "environment": "A=1\nDB_PASSWORD={}\nHOME=/",
    "argument with a sign": "mysql --password={} --host h",
    "argument": "mysql --password {} --host h",
}


@pytest.mark.parametrize("mark", ["!", "?", "!!", "!?", "$!"])
@pytest.mark.parametrize("notation", ENDINGS)
def test_a_mark_at_the_end_of_a_password_belongs_to_it(notation: str, mark: str) -> None:
    """Who must have a special character in a password appends one."""
    text = ENDINGS[notation]
    assert REDACTOR.redact(text.format(SECRET + mark)) == text.format("[REDACTED:password]")


@pytest.mark.parametrize("mark", [".", ",", ":", ";", ".,"])
@pytest.mark.parametrize("text", ["login with password={}{} Then", "login with password={}{}", "password={}{}\nnext"])
def test_punctuation_between_a_password_and_a_blank_is_the_sentences(text: str, mark: str) -> None:
    """Also at the end of the text."""
    assert REDACTOR.redact(text.format(SECRET, mark)) == text.format("[REDACTED:password]", mark)


def test_before_the_next_pair_all_belongs_to_the_value() -> None:
    """No sentence ends there."""
    assert REDACTOR.redact(f"Password={SECRET}.;Encrypt=yes") == "Password=[REDACTED:password];Encrypt=yes"


@pytest.mark.parametrize(
    "text",
    [
        "password: required!",
        "is password: wrong?",
        "password=None! token=null?",
        "password={password}! api_key=$API_KEY!",
        "password=***!",
        "token=17!",
        "token: what?",
        "the token is expired!",
        "did you mean --password PASSWORD?",
        "Did you forget the password?",
    ],
)
def test_a_word_about_a_secret_may_end_in_a_mark(text: str) -> None:
    """It's judged without it."""
    assert REDACTOR.redact(text) == text


WORDS = {
    "environment": "A=1\nDB_PASSWORD={}\nHOME=/",
    "exported": "export API_TOKEN={}\nls",
    "argument with a sign": "mysql --password={} --host h",
    "argument": "mysql --password {} --host h",
}


@pytest.mark.parametrize("notation", WORDS)
def test_only_a_blank_ends_a_word_of_the_shell(notation: str) -> None:
    """Whatever punctuation a generated password begins with, and goes on with; but `-a…` is another option."""
    marks = "!#$%&()*+,-./:;<=>?@[]^_{|}~"
    leaks = [
        (first, second)
        for first in marks
        for second in marks
        for text in [REDACTOR.redact(WORDS[notation].format(f"{first}Ab1cdef{second}9hijklm{second}Z2opqrs{first}"))]
        if "b1cdef" in text or "9hijklm" in text or "Z2opqrs" in text
    ]
    assert [pair for pair in leaks if notation != "argument" or pair[0] != "-"] == []


@pytest.mark.parametrize("notation", WORDS)
@pytest.mark.parametrize("before", ["", "it's so: ", '5" of ', "a user's "])
def test_a_word_of_the_shell_hides_no_less_than_other_notations(notation: str, before: str) -> None:
    """Whatever is masked of a value between blanks is masked there too, also where quotes are no quotes."""
    values = [
        "hunterxx",
        "correcthorsebattery",
        "abc123'xy9Qtail",
        'Ab1cd"SecretTail99',
        "tr0ub4dor&3;a=b,c",
    ]
    for value in [mark + value for mark in ("", "=", ":", ",", "(", "?") for value in values]:
        anywhere = REDACTOR.redact(f"user=bob password={value} host=h")
        here = REDACTOR.redact(before + WORDS[notation].format(value))
        kept = [value[start : start + 5] for start in range(len(value) - 4)]
        assert [part for part in kept if part in here and part not in anywhere] == []


NO_SECRETS = [
    "mysql --password --host h",
    "mysql --password -v --host h",
    "mysql --password >out1.txt",
    "mysql --password >/dev/null2",
    "mysql --password=$(cat /run/x) -v",
    "mysql --password=<your-password> -v",
    "mysql --password=<myPassword>",
    "mysql --token <AccessToken>",
    "mysql --password=[yourPassword1]",
    "mysql --token=${apiToken}",
    "usage: mysql [--password=PASSWORD] [--token TOKEN]",
    "use --password to set it",
    'run(f"mysql --password={dbPassword} -h")',
    "PASSWORD=get_password()",
    'PASSWORD=os.environ["X"]',
    "PASSWORD=settings.db.password",
    "PASSWORD=<YourPassword>",
    "PASSWORD=***,USER=root1",
    "PASSWORD=$PASSWORD,USER=root1",
    "PASSWORD=,USER=root1",
    "PASSWORD=;SERVER=db1.internal;x=1",
    "API_KEY=<your-key-1>",
    "API_KEY=${apiKey}",
    "TOKEN=${{secrets.GITHUB_TOKEN2}}",
    "MAX_TOKENS=4096",
    "PASSWORD=\nHOME=/",
]


@pytest.mark.parametrize("text", NO_SECRETS)
def test_what_is_no_word_of_the_shell_stays(text: str) -> None:
    """Options without a value, redirections, code, placeholders, counts."""
    assert REDACTOR.redact(text) == text


ENCLOSED = [
    '{"cmd":"mysql --password=%s","x":1}',
    '{"cmd":"mysql --password %s","x":1}',
    '{"text":"' + "a b " * 90 + '","cmd":"mysql --password=%s","x":1,"y":"z"} end',
    "(called with mysql --password=%s)",
    "'mysql --token=%s' failed, see 'log'",
    "<code>\nPASSWORD=%s</code></pre>",
    "PASSWORD=%s;SERVER=db.internal;DATABASE=orders",
    "TOKEN=%s&page=2",
    "mysql --token=%s&user=bob",
    "mysql --password=b'%s' -v",
    'PASSWORD=u"%s"',
]


@pytest.mark.parametrize("text", ENCLOSED)
def test_a_word_of_the_shell_ends_with_what_is_around_it(text: str) -> None:
    """The quote, the bracket or the tag that was open before stays, and so do the pairs that follow."""
    masked = re.sub(r"\[REDACTED:[a-z-]+\]", "%s", REDACTOR.redact(text % SECRET))
    assert masked == text


@pytest.mark.parametrize(
    "text", ["mysql --token=a[REDACTED:github-token]b", "mysql --password=b'[REDACTED:password]' x"]
)
def test_a_word_of_the_shell_that_is_masked_already_stays(text: str) -> None:
    """Masking again would lose its kind, and half of its brackets."""
    assert REDACTOR.redact(text) == text


@pytest.mark.parametrize("password", SYMBOLS)
def test_any_password_is_masked_in_a_repr(password: str) -> None:
    """Quotes inside a quoted value are told from those that end it."""
    assert "cdefgh2" not in REDACTOR.redact(repr({"password": password, "user": "bob"}))


@pytest.mark.parametrize(
    "password", [*SYMBOLS, "back\\slash1", "both'and\"quotes1", "naïve-pässwörd1", "with a blank 1"]
)
def test_any_password_is_masked_in_json(password: str) -> None:
    """Also where JSON escapes what is in it, and where JSON stands in JSON."""
    once = json.dumps({"password": password, "user": "bob"}, ensure_ascii=False)
    assert REDACTOR.redact(once) == '{"password": "[REDACTED:password]", "user": "bob"}'
    assert REDACTOR.redact(json.dumps(once, ensure_ascii=False)) == json.dumps(
        '{"password": "[REDACTED:password]", "user": "bob"}'
    )


def test_a_value_without_closing_quote_is_masked_to_the_end_of_its_line() -> None:
    """A text that somebody else cut leaves no piece of the secret."""
    assert REDACTOR.redact(f"{{'password': '{SECRET}\nnext") == "{'password': '[REDACTED:password]\nnext"


def test_a_long_value_is_masked_to_its_end() -> None:
    """No bound of a pattern leaves a rest."""
    assert REDACTOR.redact(f"token={secrets.run(secrets.ALNUM, 100_000)} x") == "token=[REDACTED:token] x"
