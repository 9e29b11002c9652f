"""Values that a library's message shows apart from their names: pydantic's inputs, and rows in database errors."""

import re
from collections.abc import Callable, Iterable

from errorsink._redact_rules import _key_words as words
from errorsink._redact_rules._key_words import Term
from errorsink._redact_rules._rule import MASK_OPENING, Rule, Span, View, starts_word
from errorsink._redact_rules._values import is_placeholder, quoted_value, unquoted_value

_LONGEST_LINE = 512
_LINE_BREAK = re.compile(r"\n|\\n")
_LOCATION = re.compile(r"[\w.\[\]<>| -]{1,256}\Z", re.ASCII)
_CUT_REPR = re.compile(r"\{[^\r\n]{0,64}?['\"][^'\"\r\n]{0,40}\.\.\.(?P<secret>[^'\"\r\n]{0,40}['\"][^\r\n]{0,60}?['\"])\}")

_KEY_DETAIL = re.compile(r"key \((?P<columns>[^()\r\n]{1,256})\)=\((?P<secret>(?!\[REDACTED:)[^\r\n]{1,4096}?)\)(?= |\.|\Z|[\r\n\"'\\])", re.IGNORECASE)
_DUPLICATE = re.compile(r"duplicate entry (?P<quote>\\{0,3}['\"])(?P<secret>[^\r\n]{1,1024}?)(?P=quote) for key (?P<key>[^\r\n]{1,256})", re.IGNORECASE)
_FAILING_ROW = re.compile(r"failing row contains \((?P<secret>(?!\[REDACTED:)[^\r\n]{1,65536})\)", re.IGNORECASE)
_PARAMETERS = re.compile(r"\[parameters: [\[(]{1,2}(?P<secret>(?!\[REDACTED:)[^\r\n{}]{1,65536}?)[\])]{1,2}\](?=\s|\Z|[\\\"'])", re.IGNORECASE)
_LONGEST_STATEMENT = 4096


def message_rules(terms: Iterable[Term]) -> tuple[Rule, ...]:
    """The rows, for names that end in one of the terms."""
    terms = tuple(terms)

    def is_sensitive(name: str) -> bool:
        parts = words.segments(name)
        return any(words.names(term, parts) for term in terms)

    return (
        Rule("validation-input", "input that pydantic shows for a sensitive field", ("input_value=",), _input_finder(is_sensitive)),
        Rule(
            "sql-key-detail",
            "value of a sensitive column in PostgreSQL's `Key (column)=(value)`",
            ("key (",),
            _finder(_KEY_DETAIL, lambda match, text: any(map(is_sensitive, match["columns"].split(",")))),
            View.FOLDED,
        ),
        Rule(
            "sql-duplicate",
            "value of a sensitive column in MySQL's `Duplicate entry 'value' for key 'column'`",
            ("duplicate entry ",),
            _finder(
                _DUPLICATE,
                lambda match, text: not is_placeholder(match["secret"]) and any(map(is_sensitive, re.findall(r"\w+", match["key"]))),
            ),
            View.FOLDED,
        ),
        Rule(
            "sql-row",
            "row in PostgreSQL's `Failing row contains (…)`, which names no column",
            ("failing row contains (",),
            _finder(_FAILING_ROW, lambda match, text: True),
            View.FOLDED,
        ),
        Rule(
            "sql-parameters",
            "unnamed parameters of a statement with a sensitive column, as SQLAlchemy shows them",
            ("[parameters: ",),
            _finder(_PARAMETERS, lambda match, text: _has_sensitive_column(text, match.start(), is_sensitive)),
            View.FOLDED,
        ),
    )


def _finder(pattern: re.Pattern[str], accept: Callable[[re.Match[str], str], bool]) -> Callable[[str, int, int], Span | None]:
    def find(text: str, start: int, stop: int) -> Span | None:
        match = pattern.match(text, start) if starts_word(text, start) else None
        return match.span("secret") if match is not None and accept(match, text) else None

    return find


def _has_sensitive_column(text: str, end: int, is_sensitive: Callable[[str], bool]) -> bool:
    start = text.rfind("[SQL: ", max(0, end - _LONGEST_STATEMENT), end)
    return start >= 0 and any(map(is_sensitive, re.findall(r"\w{1,64}", text[start + 6 : end], re.ASCII)))


def _input_finder(is_sensitive: Callable[[str], bool]) -> Callable[[str, int, int], Span | None]:
    """`input_value=…` below a line with the field's location; or a dict whose repr pydantic has cut in the middle of a name."""

    def find(text: str, start: int, stop: int) -> Span | None:
        if not starts_word(text, start):
            return None
        cut = _CUT_REPR.match(text, stop)
        if cut is not None and MASK_OPENING not in cut["secret"]:
            return cut.span("secret")
        before = _LINE_BREAK.split(text[max(0, start - _LONGEST_LINE) : start])
        if len(before) < 2 or _LOCATION.match(before[-2]) is None or not is_sensitive(before[-2].strip()):
            return None
        value = quoted_value(text, stop) or unquoted_value(text, stop)
        if value is None or text[value.start] in "{[" or is_placeholder(text[value.start : value.end]):
            return None
        return value.start, value.end

    return find
