"""Values that a library's message shows apart from their names: pydantic's inputs, and rows in database errors."""

import re
from collections.abc import Callable, Iterable

from errorsink._redact_rules._key_words import KeyNames, Term
from errorsink._redact_rules._rule import MASK_OPENING, Rule, Span, View, starts_word
from errorsink._redact_rules._values import is_placeholder, quoted_value, unquoted_value

_LONGEST_LINE = 512
_LINE_BREAK = re.compile(r"\n|\\n")
_LOCATION = re.compile(r"[\w.\[\]<>| -]{1,256}\Z", re.ASCII)
_CUT_REPR = re.compile(
    r"\{[^\r\n]{0,64}?['\"][^'\"\r\n]{0,40}\.\.\.(?P<secret>[^'\"\r\n]{0,40}['\"][^\r\n]{0,60}?['\"])\}"
)

_KEY_DETAIL = re.compile(r"key \((?P<columns>[^()\r\n]{1,256})\)=\((?!\[REDACTED:)", re.IGNORECASE)
_END_OF_DETAIL = re.compile(r"\)(?= |\.|\Z|[\r\n\"'\\])|[\r\n]|\Z")
_DUPLICATE = re.compile(
    r"duplicate entry (?P<quote>\\{0,3}['\"])(?P<secret>[^\r\n]{1,512}?)(?P=quote) for key (?P<key>[^\r\n]{1,128})",
    re.IGNORECASE,
)
_IDENTIFIED = re.compile(r"identified by (?:password )?(?P<quote>\\{0,3}['\"])", re.IGNORECASE)
_FAILING_ROW = re.compile(r"failing row contains \((?P<secret>(?!\[REDACTED:)[^\r\n\\]+)", re.IGNORECASE)
_PARAMETERS = re.compile(r"\[parameters: [\[(]{1,2}(?!\[REDACTED:|\{)", re.IGNORECASE)
_END_OF_PARAMETERS = re.compile(r"[\])]{1,2}\](?=\s|\Z|[\\\"'])|[\r\n]|\Z")
_LONGEST_STATEMENT = 4096


def message_rules(terms: Iterable[Term]) -> tuple[Rule, ...]:
    """The rows, for names that end in one of the terms."""
    names = KeyNames(terms)

    def is_sensitive(name: str) -> bool:
        return names.kind(name) is not None

    def key_detail(text: str, start: int, stop: int) -> Span | None:
        head = _KEY_DETAIL.match(text, start) if starts_word(text, start) else None
        if head is None or not any(map(is_sensitive, head["columns"].split(","))):
            return None
        return _up_to(_END_OF_DETAIL, text, head.end())

    def duplicate(text: str, start: int, stop: int) -> Span | None:
        match = _DUPLICATE.match(text, start) if starts_word(text, start) else None
        if (
            match is None
            or is_placeholder(match["secret"])
            or not any(map(is_sensitive, re.findall(r"\w+", match["key"])))
        ):
            return None
        return match.span("secret")

    def parameters(text: str, start: int, stop: int) -> Span | None:
        head = _PARAMETERS.match(text, start)
        statement = text.rfind("[SQL: ", max(0, start - _LONGEST_STATEMENT), start) if head is not None else -1
        if head is None or statement < 0 or "[parameters: " in text[statement:start]:
            return None
        if not any(map(is_sensitive, re.findall(r"\w{1,64}", text[statement + 6 : start], re.ASCII))):
            return None
        return _up_to(_END_OF_PARAMETERS, text, head.end())

    return (
        Rule(
            "validation-input",
            "input that pydantic shows for a sensitive field",
            ("input_value=",),
            _input_finder(is_sensitive),
        ),
        Rule(
            "sql-key-detail",
            "sensitive column in PostgreSQL's `Key (column)=(value)`",
            ("key (",),
            key_detail,
            View.FOLDED,
        ),
        Rule(
            "sql-duplicate",
            "sensitive column in MySQL's `Duplicate entry 'value' for key 'column'`",
            ("duplicate entry ",),
            duplicate,
            View.FOLDED,
        ),
        Rule(
            "sql-identified-by",
            "password in SQL's `IDENTIFIED BY 'password'`",
            ("identified by ",),
            _identified_by,
            View.FOLDED,
        ),
        Rule(
            "sql-row",
            "row in PostgreSQL's `Failing row contains (…)`, which names no column",
            ("failing row contains (",),
            _failing_row,
            View.FOLDED,
        ),
        Rule(
            "sql-parameters",
            "unnamed parameters of a statement with a sensitive column, as SQLAlchemy shows them",
            ("[parameters: ",),
            parameters,
            View.FOLDED,
        ),
    )


def _up_to(end: re.Pattern[str], text: str, start: int) -> Span | None:
    """From here to the closing bracket, or to the end of the line where none is left."""
    found = end.search(text, start)
    return (start, found.start()) if found is not None and found.start() > start else None


def _identified_by(text: str, start: int, stop: int) -> Span | None:
    head = _IDENTIFIED.match(text, start) if starts_word(text, start) else None
    value = quoted_value(text, head.start("quote")) if head is not None else None
    if value is None or is_placeholder(text[value.start : value.end]):
        return None
    return value.start, value.end


def _failing_row(text: str, start: int, stop: int) -> Span | None:
    match = _FAILING_ROW.match(text, start) if starts_word(text, start) else None
    if match is None:
        return None
    bracket = text.rfind(")", match.start("secret"), match.end())
    return match.start("secret"), bracket if bracket > match.start("secret") else match.end()


def _input_finder(is_sensitive: Callable[[str], bool]) -> Callable[[str, int, int], Span | None]:
    """`input_value=…` below a line with the field's location.

    Or a dict whose repr pydantic has cut in the middle of a name.
    """

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
