"""Secrets that are known by the name in front of them, in every notation in which names and values are written."""

import re
from collections.abc import Callable, Iterable

from errorsink._redact_rules._key_words import ATTRIBUTE_TERMS, TAIL, TERMS, Term
from errorsink._redact_rules._rule import MASK_OPENING, WORD, Rule, Span, View, starts_word
from errorsink._redact_rules._values import (
    Value,
    is_annotation,
    is_code,
    is_name_or_pattern,
    is_placeholder,
    is_sentence,
    is_shaped,
    quoted_value,
    reads_on,
    unquoted_value,
    unquoted_word,
)

_QUOTE = r"(?:\\{0,7}(?:\"\"|''|[\"'`])|%2[27]|&quot;|&#39;)"
_AFTER_NAME = re.compile(
    rf"{TAIL}(?P<close>{_QUOTE})?(?:\]|%5D)?(?P<gap>[ \t]{{0,8}})(?P<sign>=>|:=|[=!]==?|=|:|,|>|%3[DA]|)[ \t]{{0,8}}",
    re.ASCII | re.IGNORECASE,
)
_LONGEST_NAME = 64
_PARSERS_WORDS = re.compile(
    r"(?:unexpected|illegal|unknown|unrecognized|expected|next|current|last|previous|lookahead|end|start|bad) \Z",
    re.IGNORECASE,
)
_VERBS = re.compile(
    r"(?:(?:is|was|provided|given|supplied|used|received|value|now|still|set to|of) {1,2}){1,3}"
    r"|(?:(?:provided|given|supplied|used|received|value) ?)?: ?",
    re.IGNORECASE,
)
_VALUE_ATTRIBUTE = re.compile(r"\s{1,4}value\s{0,2}[=:]\s{0,2}", re.IGNORECASE)
_BLANKS = r"(?:\s|\\{1,7}[nrt]){0,128}"
_VALUE_FIELD = re.compile(
    rf"(?:{_BLANKS}{_QUOTE}?\w{{1,32}}{_QUOTE}?\s{{0,4}}[:=]\s{{0,4}}{_QUOTE}?[\w.:/-]{{0,64}}{_QUOTE}?,){{0,2}}"
    rf"{_BLANKS}(?P<quote>{_QUOTE})?\w{{0,16}}value(?(quote)(?P=quote))\s{{0,4}}(?:=>|:|=)\s{{0,4}}",
    re.ASCII | re.IGNORECASE,
)
_VALUE_LINE = re.compile(
    r"(?:\r?\n|(?:\\r)?\\n)[ \t|]{1,64}(?:- )?\w{0,16}value:[ \t]{1,8}(?![!*|>{\[][ \w])",
    re.ASCII | re.IGNORECASE,
)
_PLAIN_SCALAR = re.compile(r"[^\r\n\\#]*(?:(?<=\S)#[^\r\n\\#]*)*")
_LABEL = re.compile(r"(?:^|[\s|{,-])[\"']?[A-Za-z]\w{0,31}[\"']?:[ \t]{0,8}\Z", re.ASCII)
_LONGEST_LABEL = 48
_FORM_PART = re.compile(r"(?:\r?\n|(?:\\r)?\\n){2}")
_FORM_NAME = re.compile(r"\bname=\\{0,3}\"\Z")
_LONGEST_FORM_NAME = 10
_FORM_LINE = re.compile(r"[^\r\n\\]+")
_XML_ATTRIBUTES = re.compile(r"(?:\s[^<>]{0,512})?>")
_XML_TEXT = re.compile(r"[^<>]+")
_NO_VALUE = frozenset(":=>`")
_BRACKETED = re.compile(
    r"(?:<[A-Za-z][^<>\n]{0,256}>|\$\{[^}\n]{0,256}\}|[{\[(][\w '\"][^\n]{0,256}?[})\]]|\{\}|\[\]|\(\))"
    r"(?=[\s,;:.)\]}'\"&]|\Z)"
)
_BRACED = re.compile(r"\{(?P<value>(?:[^{}\s'\"]|\}\}){4,256})\}(?=[;\s'\",)\]]|\Z)")
_IN_NO_TEMPLATE = re.compile(r"[;@#$%^&*~]")
_MASKED = (MASK_OPENING, "{" + MASK_OPENING)
_LINE_BEGINS = re.compile(r"(?:^|\n|\r)(?:export |set )?\Z", re.MULTILINE)
_LONGEST_LINE = 256
_ANY_QUOTE = " \" ' `"
"""Stands for a line whose beginning is too far away: it may have opened any quote."""
_OPTION = re.compile(r"--?[A-Za-z][\w-]{0,63}(?:[=\s]|\Z)", re.ASCII)
_SHELL_SIGNS = ("=", ":", ",", ">")
_SUBSTITUTION = re.compile(r"\$\([^)\n]{1,256}\)(?=[\s,;\"'`]|\Z)")
_STAND_IN = re.compile(
    r"(?:\$\([^)\n]{1,256}\)|\$?[<{\[(]{1,2}[\w .:|?'-]{0,128}[>}\])]{1,2})[\"'`)\]}>]{0,3}(?=[\s,;\"'`]|\Z)"
)
_REDIRECTION = re.compile(r">[>&]?[\w./~-]{1,256}(?:\s|\Z)")
_SYMBOLS = "!#$%&()*+,-./:;<=>?@[]^_{|}~"
_LOGIN_OF_NETRC = re.compile(r"\blogin \S{1,64} \Z")
_PATH = re.compile(r"[/~.]|[A-Za-z]:[\\/]", re.ASCII)


def keyed_rule(kind: str, meaning: str, terms: Iterable[Term]) -> Rule:
    """The row for one kind of name."""
    by_literal = {literal: term for term in terms for literal in term.literals()}

    def find(text: str, start: int, stop: int) -> Span | None:
        term = by_literal[text[start:stop].lower()]
        if not _begins_name(text, start, stop, term):
            return None
        after = _AFTER_NAME.match(text, stop)
        if after is None:
            return None
        value = _NOTATIONS[after["sign"].lower()](text, start, after, term)
        if after["sign"][:1] in _SHELL_SIGNS and not (after["close"] or (value is not None and value.quoted)):
            value = _shell_word(text, start, after, value, term)
        return None if value is None else (value.start, value.end)

    return Rule(kind, meaning, tuple(by_literal), find, View.FOLDED, fused=True)


def _begins_name(text: str, start: int, stop: int, term: Term) -> bool:
    """Whether a name, or a part of one, begins here; `api_key` and its like must be words of their own."""
    if not text[start:stop].isalpha() and text[stop : stop + 1].isalpha():
        return False
    if start == 0 or not (text[start - 1].isascii() and text[start - 1].isalpha()):
        return True
    if text[start:stop].isalpha() and (term.fused or (text[start].isupper() and text[start - 1].islower())):
        return True
    return starts_word(text, start)


# --- notations: how the value follows the name --------------------------------------------------------------------


def _assigned(text: str, start: int, after: re.Match[str], term: Term) -> Value | None:
    """`name=value` and `name: value` in all their forms."""
    value = quoted_value(text, after.end())
    if value is not None:
        return value if _is_secret(text, value, term) and not _is_parsers(text, start, term, value) else None
    colon = after["sign"] == ":"
    if colon and (is_annotation(text, after.end()) or (after["gap"] and not term.fused and not after["close"])):
        return None
    braced = _braced(text, after.end()) if after["sign"] == "=" else None
    if braced is not None and _is_secret(text, braced, term):
        return braced
    value = _unquoted(text, after.end(), term, encoded=after["sign"][0] == "%")
    if value is None or (colon and not after["close"] and reads_on(text, value)):
        return None
    if not term.plain or after["close"]:
        return value
    word = text[value.start : value.end].rstrip("!?")
    shaped = is_shaped(word) or (not colon and len(word) >= 4 and (word.islower() or not word.isalpha()))
    return value if shaped and not _is_parsers(text, start, term, value) else None


def _braced(text: str, position: int) -> Value | None:
    """`PWD={a;b1}` of a connection string. What may as well be a template's field, `{password}`, is none."""
    braced = _BRACED.match(text, position)
    if braced is None or _IN_NO_TEMPLATE.search(braced["value"]) is None:
        return None
    return Value(*braced.span("value"), quoted=True)


def _shell_word(text: str, start: int, after: re.Match[str], value: Value | None, term: Term) -> Value | None:
    """`NAME=value` at the beginning of a line, `--name=value` and `--name value`, whatever punctuation they have."""
    name = _name_start(text, start)
    sign = after.start("sign")
    if _is_option(text, name):
        if not after["gap"] and text[sign] == "=":
            return _to_blank(text, name, sign + 1, value, term)
        if after["gap"] == " " and after.end() == after.end("sign") and not _REDIRECTION.match(text, sign):
            return _longer(value, _argument(text, name, sign, term))  # the sign is the value's first character
    elif not after["gap"] and text[name : sign + 1].isupper() and _LINE_BEGINS.search(text, max(0, name - 8), name):
        return _to_blank(text, name, sign + 1, value, term)
    return value


def _is_option(text: str, name: int) -> bool:
    return text.startswith("--", name) and (name == 0 or text[name - 1].isspace())


def _to_blank(text: str, name: int, position: int, value: Value | None, term: Term) -> Value | None:
    """The whole word, where other notations find less of it, or nothing since they take its beginning for syntax."""
    before = text[max(0, name - _LONGEST_LINE) : name].rpartition("\n")[2]
    word = unquoted_word(text, position, before if len(before) < _LONGEST_LINE else _ANY_QUOTE)
    if word is None or MASK_OPENING in text[position : word.end]:
        return value
    if value is None and not _can_be_word(text, word, term):
        return None
    return _longer(value, word)


def _can_be_word(text: str, word: Value, term: Term) -> bool:
    if _STAND_IN.match(text, word.start) or is_code(text, word.start, word.end):
        return False
    return is_shaped(text[word.start : word.end].lstrip(_SYMBOLS)) and _is_secret(text, word, term)


def _longer(one: Value | None, other: Value | None) -> Value | None:
    if one is None or other is None:
        return one or other
    return one if one.end >= other.end else Value(one.start, other.end, one.quoted)


def _compared(text: str, start: int, after: re.Match[str], term: Term) -> Value | None:
    """`assert password == 'value'`: a quoted value alone, what is not quoted is code."""
    value = quoted_value(text, after.end())
    if value is None or (term.plain and not is_shaped(text[value.start : value.end], 8)):
        return None
    return value if _is_secret(text, value, term) else None


def _listed(text: str, start: int, after: re.Match[str], term: Term) -> Value | None:
    """`['--password', 'value']`, `('X-Api-Key', 'value')`, `{'name': 'password', 'value': 'value'}`.

    An argument list, a pair that is no call, or two fields of an object.
    """
    quote = after["close"]
    if not quote:
        return None
    field = _VALUE_FIELD.match(text, after.end("sign"))
    name = _name_start(text, start, also="/:" if field is not None else "")
    option = text.startswith("--", name)
    opening = name - len(quote)
    if opening < 0 or text[opening:name] != quote:
        return None
    if field is not None:
        return _of_pair(text, text[name : after.start("close")], field.end(), term)
    if opening > 0 and text[opening - 1] in "bu":
        opening -= 1
    value = quoted_value(text, after.end()) if option or _opens_pair(text, opening, term) else None
    if value is None or not _is_secret(text, value, term):
        return None
    if term.plain and not is_shaped(text[value.start : value.end], 8):
        return None
    return value if option or text[value.end + len(quote) : value.end + len(quote) + 1] in (")", "]") else None


def _of_pair(text: str, name: str, position: int, term: Term) -> Value | None:
    """The value of an environment variable, a tag or a parameter whose name stands in a field of its own."""
    value = quoted_value(text, position)
    if value is None:
        value = _unquoted(text, position, term)
    elif not _is_secret(text, value, term):
        return None
    if value is None or (term.plain and not name.isupper() and not is_shaped(text[value.start : value.end], 8)):
        return None
    return value


def _opens_pair(text: str, opening: int, term: Term) -> bool:
    """Whether a tuple or list begins before the quote, rather than the arguments of a call."""
    bracket, before = text[max(0, opening - 1) : opening], text[max(0, opening - 2) : max(0, opening - 1)]
    return bracket in (("(",) if term.plain else ("(", "[")) and before not in WORD and before not in (")", "]")


def _element(text: str, start: int, after: re.Match[str], term: Term) -> Value | None:
    """`<password>value</password>`, with a namespace and attributes or without."""
    name = _name_start(text, start, also=":")
    if name == 0 or text[name - 1] != "<" or after["close"]:
        return None
    head = _XML_ATTRIBUTES.match(text, after.start("gap"))
    body = _XML_TEXT.match(text, head.end()) if head is not None else None
    if body is None:
        return None
    value = Value(body.start(), body.end(), quoted=True)
    return value if text.startswith("</", value.end) and _is_secret(text, value, term) else None


def _juxtaposed(text: str, start: int, after: re.Match[str], term: Term) -> Value | None:
    """`--password value`, `name="password" value="…"`, a part of a form, and prose: `the password is value`."""
    position = after.end()
    line = _VALUE_LINE.match(text, after.end("close") if after["close"] else after.start("gap"))
    if line is not None:
        return _value_line(text, _name_start(text, start), after, line, term)
    if after["close"]:
        return _attribute_or_form(text, _name_start(text, start), after, term)
    if not after["gap"]:
        return None
    qualified = _name_start(text, start, also=":")
    if text[qualified - 1 : qualified] == "<":
        return _element(text, start, after, term)
    name = _name_start(text, start)
    if text.startswith("--", name):
        return _argument(text, name, position, term) if after["gap"] == " " else None
    if _LOGIN_OF_NETRC.search(text[max(0, start - _LONGEST_NAME) : start]) is not None:
        return _argument(text, name, position, term)
    return _prose(text, start, position, term)


def _value_line(text: str, name: int, after: re.Match[str], line: re.Match[str], term: Term) -> Value | None:
    """`name: DB_PASSWORD` and in the next line of YAML `value: …`."""
    opening = name - len(after["close"] or "")
    if _LABEL.search(text[max(0, opening - _LONGEST_LABEL) : opening]) is None:
        return None
    value = quoted_value(text, line.end())
    scalar = _PLAIN_SCALAR.match(text, line.end()) if value is None else None
    if scalar is not None:
        value = Value(line.end(), line.end() + len(scalar[0].rstrip()), quoted=False)
    if value is None or not _is_secret(text, value, term):
        return None
    shaped = not term.plain or text[name : line.start()].isupper() or is_shaped(text[value.start : value.end], 8)
    return value if shaped else None


def _argument(text: str, name: int, position: int, term: Term) -> Value | None:
    value = quoted_value(text, position)
    if value is not None:
        return value if _is_secret(text, value, term) else None
    if _OPTION.match(text, position):
        return None
    value = _to_blank(text, name, position, _unquoted(text, position, term), term)
    if value is None:
        return None
    word = text[value.start : value.end].rstrip("!?")
    metavar = word.isupper() and word.replace("_", "").isalpha() and len(word) <= 16
    return None if metavar or reads_on(text, value) else value


def _attribute_or_form(text: str, name: int, after: re.Match[str], term: Term) -> Value | None:
    close = after.end("close")
    attribute = _VALUE_ATTRIBUTE.match(text, close)
    if attribute is not None:
        value = quoted_value(text, attribute.end())
        return value if value is not None and _is_secret(text, value, term) else None
    blank_line = _FORM_PART.match(text, close)
    line = _FORM_LINE.match(text, blank_line.end()) if blank_line is not None else None
    if line is None or _FORM_NAME.search(text[max(0, name - _LONGEST_FORM_NAME) : name]) is None:
        return None
    value = Value(line.start(), line.end(), quoted=True)
    return value if _is_secret(text, value, term) else None


def _prose(text: str, start: int, position: int, term: Term) -> Value | None:
    if term.segments[0] in ("pass", "auth"):
        return None  # words of ordinary sentences
    verbs = _VERBS.match(text, position)
    value = quoted_value(text, verbs.end() if verbs is not None else position)
    if value is not None and (verbs is not None or term.kind == "password"):
        word = text[value.start : value.end]
        secret = not any(character.isspace() for character in word) and _is_secret(text, value, term)
        return value if secret and not _is_parsers(text, start, term, value) else None
    value = _unquoted(text, verbs.end(), term) if verbs is not None else None
    if value is None:
        return None
    word = text[value.start : value.end]
    code = term.kind == "card-security-code" and word.isdigit()
    return value if code or is_shaped(word) else None


_NOTATIONS: dict[str, Callable[[str, int, re.Match[str], Term], Value | None]] = {
    "=": _assigned,
    ":": _assigned,
    "=>": _assigned,
    ":=": _assigned,
    "%3d": _assigned,
    "%3a": _assigned,
    "==": _compared,
    "!=": _compared,
    "===": _compared,
    "!==": _compared,
    ",": _listed,
    ">": _element,
    "": _juxtaposed,
}


def _unquoted(text: str, position: int, term: Term, *, encoded: bool = False) -> Value | None:
    """An unquoted value, unless it is code.

    What is not read to its end is refused first: that keeps the work linear.
    """
    if text[position : position + 1] in _NO_VALUE or text.startswith(_MASKED, position):
        return None
    if _BRACKETED.match(text, position) or _SUBSTITUTION.match(text, position) or is_code(text, position):
        return None
    if term.segments[-1] in ("pwd", "pass") and _PATH.match(text, position) is not None:
        return None
    value = unquoted_value(text, position, encoded=encoded)
    return value if value is not None and _is_secret(text, value, term) else None


# --- judgement ----------------------------------------------------------------------------------------------------

_LONGEST_HARMLESS = 512
_NAMES_THEMSELVES = frozenset(literal for term in (*TERMS, *ATTRIBUTE_TERMS) for literal in term.literals())


def _is_secret(text: str, value: Value, term: Term) -> bool:
    """Whether the value can be one.

    Not a placeholder, a number such as a count, the name itself or a sentence about it.
    """
    size = value.end - value.start
    if size > _LONGEST_HARMLESS:
        return True
    word = text[value.start : value.end]
    if not value.quoted:
        word = word.rstrip("!?") or word  # `password: required!`
    if size < 3 or not word.strip("'\"`, ") or is_placeholder(word) or word.lower() in _NAMES_THEMSELVES:
        return False
    if word.isdigit() and size < (9 if term.plain else 4) and term.kind != "card-security-code":
        return False
    if term.plain and value.quoted and is_name_or_pattern(word):
        return False
    if term.segments[-1] in ("pwd", "pass") and _PATH.match(word) is not None:
        return False
    return not (value.quoted and is_sentence(word))


def _is_parsers(text: str, start: int, term: Term, value: Value) -> bool:
    """`unexpected token: '}'` speaks of a lexer's token."""
    if not term.plain or is_shaped(text[value.start : value.end], 8):
        return False
    return _PARSERS_WORDS.search(text[max(0, start - 16) : start]) is not None


def _name_start(text: str, position: int, also: str = "") -> int:
    """Where the whole name begins, of which the term is a part."""
    limit = max(0, position - _LONGEST_NAME)
    while position > limit and (text[position - 1] in WORD or text[position - 1] in "-." or text[position - 1] in also):
        position -= 1
    return position
