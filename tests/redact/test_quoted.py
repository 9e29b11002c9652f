"""Quotes inside quotes: where a value ends that holds its own quote twice, and what a doubled quote may be instead."""

from __future__ import annotations

import csv
import io
import json

import pytest

from errorsink._redact import Redactor
from tests.redact import secrets

REDACTOR = Redactor()
HALF, REST = secrets.password("first half"), secrets.password("second half")

DOUBLED = {
    "SQL": "password='{}''{}' WHERE id=1",
    "SQL, in a repr": "\"password='{}''{}' WHERE id=1\"",
    "SQL in a repr that escapes": "'password=\\'{}\\'\\'{}\\' WHERE id=1'",
    "SQL, a blank behind": "password='{}'' {}'; SELECT 1",
    "SQL, a bracket behind": "password='{}''){}'; SELECT 1",
    "SQL, other texts behind": "password='{}'', {}' AND user='bob'",
    "SQL, twice": "password='{}''''{}';",
    "ODBC": 'Driver={{x}};password="{}""{}";Encrypt=yes',
    "JSON around": '{{"dsn": "password=\\"{}\\"\\"{}\\" x"}}',
    "percent-encoded": "password%3D%27{}%27%27{}%27%26a",
    "entities": "<a>password=&quot;{}&quot;&quot;{}&quot; x</a>",
    "a quote at the end": "password='{}{}''' WHERE id=1",
    "an argument": "['mysql', '--password', '{}''{}']",
    "a cut value": "password='{}''{}",
}


@pytest.mark.parametrize("notation", DOUBLED)
def test_a_doubled_quote_belongs_to_the_value(notation: str) -> None:
    """What stands behind it is the rest of the secret."""
    redacted = REDACTOR.redact(DOUBLED[notation].format(HALF, REST))
    assert (HALF[:8] in redacted, REST[:8] in redacted) == (False, False)
    before, after = DOUBLED[notation].replace("{{", "{").replace("}}", "}").split("{}", 1)
    tail = after.partition("{}")[2]
    assert redacted == f"{before}[REDACTED:password]{tail if not tail.startswith(chr(39) * 3) else tail[2:]}"


@pytest.mark.parametrize(
    "text",
    [
        "password='' user='bob'",
        'password="", user="bob"',
        "VALUES ('password', '', 'bob')",
        '<login password=""/>',
        '{"password":""}',
        "password=''",
        '{""password"": """", ""user"": ""bob""}',
    ],
)
def test_an_empty_value_stays(text: str) -> None:
    """Two quotes with nothing between them are no quote."""
    assert REDACTOR.redact(text) == text


CLOSING = [
    "failed in 'login password='{}''",
    "failed in 'login password='{}'', see 'log'",
    "failed in 'login password='{}'' and 'logout'",
    '{{"msg": "password="{}"", "user": "bob"}}',
    '{{"msg":"password="{}"","user":"bob"}}',
    "password='''{}'''",
    'password="""{}"""; x="a"',
]


@pytest.mark.parametrize("text", CLOSING)
def test_a_second_quote_may_close_what_is_around_the_value(text: str) -> None:
    """Then it stays, with all that follows."""
    assert REDACTOR.redact(text.format(HALF)) == text.format("[REDACTED:password]")


def test_a_value_between_doubled_quotes_is_masked() -> None:
    """JSON in a CSV file, and a statement in a string of SQL."""
    row = io.StringIO()
    csv.writer(row).writerow(["bob", json.dumps({"password": HALF, "roles": []})])
    assert REDACTOR.redact(row.getvalue()) == row.getvalue().replace(HALF, "[REDACTED:password]")
    statement = f"EXEC('CREATE USER u IDENTIFIED BY ''{HALF}'' ACCOUNT LOCK')"
    assert REDACTOR.redact(statement) == statement.replace(HALF, "[REDACTED:sql-identified-by]")


def test_triple_quotes_hold_lines_and_quotes() -> None:
    """They are no doubled quote and a third."""
    text = f"password='''{HALF}\nit''s {REST}''' x='a'"
    assert REDACTOR.redact(text) == "password='''[REDACTED:password]''' x='a'"
