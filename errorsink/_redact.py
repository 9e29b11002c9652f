"""Redaction: no known secret leaves the process, and the text around it stays readable.

The complete text is redacted first and cut afterwards; a text that was cut first keeps pieces that no rule knows.
Where only the beginning of a text could be read, `without_end` gives up what a secret at the cut may have left.
"""

from collections.abc import Callable, Collection
from itertools import count

from errorsink._redact_rules import ATTRIBUTE_TERMS, MASK_OPENING, TERMS, KeyNames, Rule, custom_term, rules
from errorsink._redact_scan import Scanner

OVERLAP = 8_192
"""The characters dropped before a cut that was made ahead of redaction: more than a secret is expected to have."""

ERROR = f"{MASK_OPENING}error]"
"""What a text becomes when it cannot be redacted."""

_MOST_PASSES = 8


class Redactor:
    """The rule table under one set of settings.

    Args:
        disable: kinds that shall not be masked.
        keys: more names of keys whose values are secrets, in any spelling: `tenant_ref` covers `X-Tenant-Ref`.
        enable: kinds that are off by default and shall be masked.
        hook: a function of the user's, text to text, that runs after the rules. It sees masked text only, and the rules
            run again on what it returns: it may hide more, and what it puts in is redacted like any other text.

    Raises:
        ValueError: a kind is unknown, or a key name unusable; the message names it and says what is allowed.
    """

    def __init__(
        self,
        *,
        disable: Collection[str] = (),
        keys: Collection[str] = (),
        enable: Collection[str] = (),
        hook: Callable[[str], str] | None = None,
    ) -> None:
        for option, names_ in (("disable", disable), ("keys", keys), ("enable", enable)):
            if isinstance(names_, str):
                raise ValueError(f"{option}: expected a collection of names, got the string {names_!r}")
        custom = tuple(custom_term(key) for key in keys)
        table = rules(custom)
        _check_kinds("disable", disable, table)
        _check_kinds("enable", enable, table)
        active = [rule for rule in table if (rule.default or rule.kind in enable) and rule.kind not in disable]
        self._scanner = Scanner(active)
        self._keys = KeyNames(term for term in (*custom, *TERMS, *ATTRIBUTE_TERMS) if term.kind not in disable)
        self._hook = hook
        self._hits = {rule.kind: count() for rule in table} | {"error": count()}

    def redact(self, text: str) -> str:
        """The text with every secret replaced by a mask that names its kind; the same object if there is none.

        It raises no Exception: a text that cannot be redacted becomes `[REDACTED:error]`. The work is linear in the
        length of the text, and redacting again changes nothing.
        """
        try:
            masked = self._masked(text)
            return masked if self._hook is None else self._hooked(masked)
        except Exception:  # noqa: BLE001 - whatever failed, here or in the hook: what was not checked is not shown
            next(self._hits["error"])
            return ERROR

    def is_sensitive_key(self, key: str) -> bool:
        """Whether an attribute's key names a secret, in whatever spelling: `db.password`, `X-Api-Key`, `sessionId`."""
        return self._keys.kind(key) is not None

    def redact_value(self, key: str, value: str) -> str:
        """The value of an attribute.

        A mask for the whole of it if the key is sensitive, else the value redacted as text.
        """
        try:
            kind = self._keys.kind(key)
        except Exception:  # noqa: BLE001 - a key that cannot be judged may be sensitive
            return ERROR
        if kind is None:
            return self.redact(value)
        if not value or (value.startswith(MASK_OPENING) and value.endswith("]")):
            return value
        next(self._hits[kind])
        return mask(kind)

    def counts(self) -> dict[str, int]:
        """How many secrets of each kind have been masked so far; kinds without any are left out."""
        # `next` on a C counter is one step that no thread or signal handler can break into, and its repr is its value.
        hits = {kind: int(repr(counter)[len("count(") : -1]) for kind, counter in self._hits.items()}
        return {kind: number for kind, number in hits.items() if number}

    @property
    def steps(self) -> int:
        """The engine's work so far.

        Places looked at and characters masked. For tests and benchmarks; not exact across threads.
        """
        return self._scanner.steps

    def kinds(self) -> list[tuple[str, str, bool]]:
        """Every kind that is active here, with its meaning and whether it is on by default."""
        return [(rule.kind, rule.meaning, rule.default) for rule in self._scanner.rules]

    def _masked(self, text: str) -> str:
        """Masks until nothing more is found.

        What a mask uncovers, such as a word that now begins, must not wait for a second call.
        """
        for _ in range(_MOST_PASSES):
            hits = self._scanner.scan(text)
            if not hits:
                return text
            pieces: list[str] = []
            end = 0
            for start, stop, row in hits:
                kind = self._scanner.rules[row].kind
                next(self._hits[kind])
                pieces += (text[end:start], mask(kind))
                end = stop
            text = "".join((*pieces, text[end:]))
        raise RuntimeError("masking uncovers more and more")

    def _hooked(self, masked: str) -> str:
        assert self._hook is not None
        changed = self._hook(masked)
        if not isinstance(changed, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a hook may break its word
            raise TypeError("a hook returns a str")
        return masked if changed == masked else self._masked(changed)


def without_end(redacted: str) -> str:
    """What is kept of the redacted beginning of a longer text: where it was cut, half a secret may stand."""
    return redacted[:-OVERLAP]


def mask(kind: str) -> str:
    """The constant that stands for a secret: never a part, a length or a hash of it."""
    return f"{MASK_OPENING}{kind}]"


def table() -> tuple[Rule, ...]:
    """Every rule there is, whether on by default or not."""
    return rules()


def _check_kinds(option: str, kinds: Collection[str], known: Collection[Rule]) -> None:
    allowed = sorted({rule.kind for rule in known})
    for kind in kinds:
        if kind not in allowed:
            raise ValueError(f"{option}: no kind of secret is called {kind!r}; the kinds are {', '.join(allowed)}")
