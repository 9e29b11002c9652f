"""Where the value of a key begins and ends, quoted or not, and whether it can be a secret at all."""

import re
from typing import NamedTuple

from errorsink._redact_rules._rule import MASK_OPENING, words

_INPUT_TYPE = ", input_type="
_OPENING = re.compile(
    r"(?:(?:\+|%20){1,4}(?=%2[27]))?(?P<wrap>[\[(]{0,2}|[A-Z]\w{0,63}\()[bBrRuUfF]{0,2}"
    r"(?!\"{4}(?:[\s,;:)\]}]|\Z)|'{4}(?:[\s,;:)\]}]|\Z))"
    r"(?P<quote>\\{0,7}(?:\"\"\"|'''|(?P<twice>[\"'])(?P=twice)(?=[^\s\"',;:.)\]}>&/\\])|[\"'`])|%2[27]|&quot;|&#39;)",
    re.ASCII,
)
_NEXT_ITEM = re.compile(r",[ \t]{0,4}b?", re.ASCII)
_BEFORE_CLOSING = re.compile(r"[^\s,:;=(\[{]")
_CLOSED = re.compile(r"[\s,:;.)\]}>&]|\Z")
_LONGEST_REST = 256
_TRIPLE = ('"""', "'''")


class Value(NamedTuple):
    """The characters of a value, without its quotes."""

    start: int
    end: int
    quoted: bool


def quoted_value(text: str, position: int) -> Value | None:
    """The quoted value that begins here.

    Plain, with escaped quotes, in a list or tuple, or in a constructor as repr shows it.
    """
    opening = _OPENING.match(text, position)
    if opening is None:
        return None
    quote = opening["quote"]
    start = opening.end()
    end, closed = closing_quote(text, start, quote)
    while closed and opening["wrap"][-1:] in ("[", "("):
        item = _NEXT_ITEM.match(text, end + len(quote))
        if item is None or not text.startswith(quote, item.end()):
            break
        end, closed = closing_quote(text, item.end() + len(quote), quote)
    if end == start or (not closed and text[start] in " \t,;)]}+"):
        return None  # empty, or what looked like an opening quote closes something
    return Value(start, end, quoted=True)


def closing_quote(text: str, start: int, quote: str) -> tuple[int, bool]:
    """Where the closing quote stands. Without one the value ends with its line: better too much than a part of it."""
    position = text.find(quote, start)
    while position >= 0:
        if _is_escaped(text, start, position, quote):
            position = text.find(quote, position + 1)
        elif _is_doubled(text, start, position, quote):
            position = text.find(quote, position + 2 * len(quote))
        else:
            break
    if quote[0] == "\\":  # an unescaped quote ends what is around the value, and so the value
        bare = _bare_quote(text, start, position, quote[-1])
        position = bare if bare >= 0 else position
    line_end = text.find("\n", start, position if position >= 0 else len(text))
    if position >= 0 and (line_end < 0 or len(quote) == 3):
        return position, True
    line_end = line_end if line_end >= 0 else len(text)
    cut_repr = text.find(_INPUT_TYPE, start, line_end)
    return (cut_repr if cut_repr >= 0 else line_end), False


def _bare_quote(text: str, start: int, end: int, quote: str) -> int:
    limit = end if end >= 0 else len(text)
    bare = text.find(quote, start, limit)
    while bare >= 0 and bare > start and text[bare - 1] == "\\":
        bare = text.find(quote, bare + 1, limit)
    return bare


def _is_doubled(text: str, start: int, position: int, quote: str) -> bool:
    """Whether two quotes stand for one, as SQL and CSV write it.

    Before punctuation or a blank the second may as well close what is around the value: then what the next quote does
    decides, whether it closes something too.
    """
    after = position + 2 * len(quote)
    if position == start or quote[-3:] in _TRIPLE or not text.startswith(quote, position + len(quote)):
        return False
    if not _CLOSED.match(text, after):
        return True
    following = text.find(quote, after, after + _LONGEST_REST)
    if following < 0 or "\n" in text[after:following]:
        return False
    closed = _CLOSED.match(text, following + len(quote)) is not None
    return closed and _BEFORE_CLOSING.match(text, following - 1) is not None


def _is_escaped(text: str, start: int, position: int, quote: str) -> bool:
    """Whether the quote belongs to the value.

    An odd number of backslashes before it, or more of them than the opening had.
    """
    if quote[0] == "&":
        return False
    if quote[0] == "%":
        return text[max(start, position - 3) : position].upper() == "%5C"
    first = position
    while first > start and text[first - 1] == "\\":
        first -= 1
    return (position - first) % 2 == 1 if quote[0] != "\\" else position > first


_RUN = re.compile(r"[^\s\x00-\x1f&;,?'\"`<>)}\]\\%]+")
_NEXT_NAME = r"\s{0,2}[\"']?[A-Za-z_][\w.\[\]-]{0,63}[\"']?(?:\s?[=:]|%3[DdAa])"
_END = re.compile(
    r"[\s\x00-\x1f]|\\(?:[nrt\"' ]|\Z)|&(?:amp|quot|#39);|</?[A-Za-z]{1,10}[\s>/]"
    rf"|[,;&](?:\s|\Z|{_NEXT_NAME})|\?{_NEXT_NAME}"
    r"|[\"'`](?:[\s,)\]}]|[;:.>][\s\"'`]|/>|[;:.>]?\Z)"
    rf"|[\"'`)\]}}>]{{1,8}}(?:[,;:.]?(?:\s|\Z)|[,;]{_NEXT_NAME})",
    re.ASCII,
)
_ENCODED_END = re.compile(r"%(?:2[0267Cc]|7[Dd]|3[BbEe]|0[AaDd])")


_BETWEEN_PAIRS = re.compile(r"[,;&?](?!\s|\Z)")


def unquoted_value(text: str, position: int, *, encoded: bool = False) -> Value | None:
    """The value up to a blank, the next pair, or punctuation that closes what is around it.

    Punctuation in the middle of a word is part of the value, as generated passwords have it: a bracket or quote ends it
    only before more punctuation or a blank, and a comma, a semicolon or an ampersand only before a name and `=` or `:`.
    Of its own end `.`, `,`, `:` and `;` stay outside; before the next pair nothing does.
    ``encoded`` says that the name is in percent-encoded text, where `%26` ends the value; else it is part of it.
    """
    start = position
    size = len(text)
    while position < size:
        run = _RUN.match(text, position)
        if run is not None:
            position = run.end()
        elif _END.match(text, position) or (encoded and _ENCODED_END.match(text, position)):
            break
        else:
            position += 1
    if not _BETWEEN_PAIRS.match(text, position):
        while position > start and text[position - 1] in ".,:;":
            position -= 1
    return Value(start, position, quoted=False) if position > start else None


_WORD_PART = re.compile(r"(?:[^\s\x00-\x1f\\\"'`,;&<]+|\\(?![nrt\"'`]))+")
_WORD_END = re.compile(r"[\s\x00-\x1f\\]|[,;&][A-Za-z_]{3,64}(?:\s?[=:]|%3[DdAa])|</[A-Za-z]{1,10}>")
_BEGINS_QUOTED = re.compile(r"[A-Za-z]{0,2}[\"'`]")
_CLOSES = re.compile(r"[\"'`](?:[\s,:;)\]}>]|\Z)")
_OPENS = {quote: re.compile(rf"(?:^|[\s,:;=(\[{{]){quote}") for quote in "\"'`"}
_CLOSING = re.compile(r"[\"'`)\]}>]{0,3}[.,:;]{0,3}\Z")


def unquoted_word(text: str, position: int, before: str) -> Value | None:
    """The value up to a blank or a line break, written out or as `\\n`, whatever punctuation it has.

    It also ends at the next pair (`;SERVER=`), at a closing tag, and at a quote that closes one which ``before``, its
    line so far, has opened. Of the punctuation at its end up to six characters stay outside, since they may close what
    is around it.
    """
    if _BEGINS_QUOTED.match(text, position):
        return None
    end = position
    while end < len(text):
        part = _WORD_PART.match(text, end)
        if part is not None:
            end = part.end()
        elif _WORD_END.match(text, end) or (_CLOSES.match(text, end) and _OPENS[text[end]].search(before)):
            break
        else:
            end += 1
    punctuation = _CLOSING.search(text, max(position, end - 6), end)
    end = end if punctuation is None else punctuation.start()
    return Value(position, end, quoted=False) if end > position else None


# --- can it be a secret? ------------------------------------------------------------------------------------------

_PLACEHOLDER = re.compile(
    r"(?:none|null|nil|true|false|undefined|nan|unset|unknown|missing|empty|required|optional|n/?a"
    r"|redacted|hidden|masked|omitted|filtered|[*•·#.?_-]{1,512}|x{3,512}"
    r"|<[A-Za-z][^<>]{0,256}>|\{(?:[a-z_][\w.\[\]!:'\" (),-]{0,64})?\}|\$\{[^}]{1,128}\}{1,2}|\$\([^)]{1,128}\)"
    r"|\[\w{1,32}\]|\((?:no|not|un)[\w ]{1,64}\)"
    r"|%[sdr]|%\(\w{1,64}\)[sdr]?|:[a-z_]{1,64}|your[-_ ][\w -]{1,64}|os\.environ.{0,128}|process\.env.{0,128}"
    r"|0x[0-9a-f]{1,16})\Z",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"\$[A-Z_][A-Z0-9_]{0,64}\Z", re.ASCII)
_ANNOTATION = re.compile(
    r"(?:str|int|bytes|float|bool|string|number|object|dict|list|tuple|any|optional|union|secretstr)(?=[\s,)\]\[=|]|\Z)",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?:self|cls|this|os|sys|settings|config|request|args|kwargs|options|env|ctx)\.[A-Za-z_]"
    r"|[A-Za-z_][\w.]{0,64}(?:\([^()\n]{0,128}\)|\[[^\[\]\n]{0,128}\])",
    re.ASCII,
)
_SENTENCE = re.compile(
    r"\b(?:required|(?:be|left) blank|invalid|valid|too (?:short|long|common|similar|weak)|missing|incorrect|expired"
    r"|must|cannot|can't|may not|should|mismatch|(?:is|was|does|do|are|has|have) not|didn't|doesn't|isn't|wasn't"
    r"|not (?:match|allowed|found|set|provided|supported|a|an))\b",
    re.IGNORECASE,
)
_SHAPED = re.compile(r"(?=\S*[A-Za-z])(?=\S*[0-9])|\S*(?:[a-z][A-Z]|[A-Z]{2}[a-z])", re.ASCII)
_LONG = 20
_ALGORITHM = re.compile(
    r"(?:sha|md|utf|rs|hs|es|ps|base|aes|rsa|ed|v|line|col|python|py|http|oauth)-?[0-9./]{1,8}\Z", re.IGNORECASE
)
_STARTS_SENTENCE = frozenset(
    words(
        "a an and any are as at be been but by can cannot could did do does for from got had has have if in into is it",
        "its may must need needs no not of on only or please see set should than that the there this to too use used",
        "using was were when which will with wrong you your",
        "auth authentication authorization contains denied ensure enter error exceeds expected expired expires failed",
        "field format incorrect input invalid length malformed mismatch missing provided received refused rejected",
        "required requires reset revoked string supplied unauthorized unexpected unknown valid value values",
    )
)
_NAME_OR_PATTERN = re.compile(
    r"[A-Za-z]+(?:[_-][A-Za-z]+)+\Z|#[0-9A-Fa-f]{3,8}\Z|[0-9]+(?:\.[0-9]+)+\Z"
    r"|(?:\^|\(\?|\[|\\[wWdDsS]).*[\])+*?$}]\Z|.*\s\Z",
    re.ASCII | re.DOTALL,
)
_FIELD = re.compile(r"\{[^{}]{0,128}\}|%(?:\(\w{1,64}\))?[sdr]", re.ASCII)
_LONGEST_WORD = 64
_WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)?\Z", re.ASCII)


def is_placeholder(value: str) -> bool:
    """Whether it stands for a value: a mask, `None`, `***`, `<hidden>`, `{password}`, `$PASSWORD`, `%s`."""
    if value.startswith(MASK_OPENING) or _PLACEHOLDER.match(value) or _VARIABLE.match(value):
        return True
    return ("{" in value or "%" in value) and not any(map(str.isalnum, _FIELD.sub("", value)))


def is_sentence(value: str) -> bool:
    """Whether a quoted value is what a validator says about the secret: `This field is required.`"""
    return " " in value and len(value) <= 512 and _SENTENCE.search(value) is not None


def is_name_or_pattern(value: str) -> bool:
    """Whether it is a constant of a program: `send_message`, `X-Auth-Token`, a colour, an OID, a regular expression."""
    return _NAME_OR_PATTERN.match(value) is not None


def is_code(text: str, position: int, end: int | None = None) -> bool:
    """Whether the unquoted value that begins here is an expression: `self.password`, `get_token(…)`.

    ``end`` says where the value ends for certain: what goes on there as no expression does is none.
    """
    code = _CODE.match(text, position)
    return code is not None and (
        end is None or code.end() >= end or text[code.end()] in ".[(" or code[0][-1] not in ")]"
    )


def is_annotation(text: str, position: int) -> bool:
    """Whether what follows a colon is a type: `password: str`."""
    return _ANNOTATION.match(text, position) is not None


def is_shaped(value: str, shortest: int = 6) -> bool:
    """Whether it looks more like a secret than like a word: letters and digits, capitals inside, or length."""
    head = value[:_LONG]
    if len(head) == _LONG and not any(map(str.isspace, head)):
        return True
    return len(value) >= shortest and _SHAPED.match(head) is not None and _ALGORITHM.match(value) is None


def begins_sentence(word: str) -> bool:
    """Whether the word says something about a secret: `required`, `must`, `failed`."""
    return word.lower() in _STARTS_SENTENCE


def reads_on(text: str, value: Value) -> bool:
    """Whether the value is the first word of a sentence: `is required`, `must be set`, `field missing`, `wrong!`."""
    word = text[value.start : value.end]
    if len(word) > _LONGEST_WORD:
        return False
    if begins_sentence(word.rstrip("!?")):
        return True
    if _WORD.match(word) is None:
        return False
    following = text[value.end : value.end + 2]
    one_case = word.islower() or word[1:].islower() or word.isupper()
    return one_case and following[:1] == " " and following[1:].islower()
