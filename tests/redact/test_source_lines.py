"""In the source lines of a stack, code stays; literals, comments and known tokens are masked."""

from __future__ import annotations

import textwrap
import traceback

import pytest

from errorsink._redact import Redactor
from tests.redact import secrets

REDACTOR = Redactor()
SECRET = secrets.password("source")


def _stack(line: str) -> str:
    return f'Traceback (most recent call last):\n  File "/srv/app.py", line 3, in f\n    {line}\nValueError: x\n'


CODE = [
    "connect(user=user, password=password)",
    "token=self.next_token,",
    "password = config.password if config else default_password",
    "secret: str = vault.read(path)",
    "api_key=settings_API_KEY1,",
    "return auth == self.authValue1",
    "self.token = Abc123def",
    "logits@weights.transpose",
    "headers = {'Authorization': f'Bearer {token}'}",
    "url = f'postgresql://{user}:{password}@{host}/db'",
    "log.info('password=%s', password1)",
    "parser.add_argument('--password', help='the password')",
    'os.environ["DB_PASSWORD"]',
]


@pytest.mark.parametrize("line", CODE)
def test_code_stays(line: str) -> None:
    """Names and expressions are what one reads a stack for."""
    assert REDACTOR.redact(_stack(line)) == _stack(line)


HIDDEN = [
    "connect(user=user, password='§')",
    'login("bob", password="§")',
    "config = {'api_key': '§', 'host': host}",
    "raise ValueError('x')  # password=§",
    "raise ValueError('login with password=§ failed')",
    "dsn = 'postgresql://bob:§@db/x'",
    "assert password == '§'",
    "run(['mysql', '--password', '§'])",
]


@pytest.mark.parametrize("line", HIDDEN)
def test_secrets_in_literals_and_comments_are_masked(line: str) -> None:
    """What is quoted or said in a comment may be a secret."""
    redacted = REDACTOR.redact(_stack(line.replace("§", SECRET)))
    assert SECRET[:8] not in redacted
    assert redacted.replace("[REDACTED:password]", "§").replace("[REDACTED:api-key]", "§").replace(
        "[REDACTED:url-password]", "§"
    ) == _stack(line)


def test_a_known_token_is_masked_in_code() -> None:
    """A prefix tells it wherever it stands."""
    token = secrets.TOKENS["github-token"][0](1)
    assert REDACTOR.redact(_stack(f"x = {token}")) == _stack("x = [REDACTED:github-token]")


def test_all_lines_of_an_expression_are_source() -> None:
    """Python 3.13 shows an expression of several lines."""
    stack = _stack("connect(\n        password=password1,\n    )")
    assert REDACTOR.redact(stack) == stack


def test_a_very_long_source_line_is_text() -> None:
    """It's data in a program, such as a document in one line."""
    line = "x = " + "1, " * 400
    assert SECRET not in REDACTOR.redact(_stack(f"{line} password={SECRET}"))


def test_source_lines_in_a_group_are_source() -> None:
    """The bars of an exception group stand before them."""
    stack = textwrap.indent(_stack("connect(password=password1)"), "    | ")
    assert REDACTOR.redact(stack) == stack


def test_the_message_below_a_stack_is_text() -> None:
    """It's no code, also if a line of it is indented as far as one."""
    stack = _stack("f()") + f"    password={SECRET}\n"
    assert SECRET not in REDACTOR.redact(stack)


def test_a_message_of_a_cause_between_stacks_is_text() -> None:
    """Each message of a chain is redacted like any text."""
    try:
        try:
            raise KeyError(f"password={SECRET}")
        except KeyError as error:
            raise ValueError("x") from error
    except ValueError as error:
        stack = "".join(traceback.format_exception(error))
    assert SECRET not in REDACTOR.redact(stack)


def test_the_file_line_itself_is_text() -> None:
    """A secret in a path goes."""
    assert SECRET not in REDACTOR.redact(f'  File "/srv/token={SECRET}/m.py", line 1, in f\n    g()\n')
