"""The rule table.

One row a kind of secret, the most telling first. Where matches overlap, the first row names the mask.
"""

from collections.abc import Iterable

from errorsink._redact_rules import _headers, _personal, _providers, _structured
from errorsink._redact_rules._key_words import ATTRIBUTE_TERMS, MEANINGS, TERMS, KeyNames, Term, custom_term
from errorsink._redact_rules._keyed import keyed_rule
from errorsink._redact_rules._messages import message_rules
from errorsink._redact_rules._rule import ESCAPES, MASK_OPENING, Rule, Span, View

__all__ = [
    "ATTRIBUTE_TERMS",
    "CUSTOM",
    "ESCAPES",
    "MASK_OPENING",
    "MEANINGS",
    "TERMS",
    "KeyNames",
    "Rule",
    "Span",
    "Term",
    "View",
    "custom_term",
    "rules",
]

CUSTOM = "custom-key"


def rules(custom: Iterable[Term] = ()) -> tuple[Rule, ...]:
    """The whole table, with a row for the user's own key names."""
    custom = tuple(custom)
    keyed = [
        keyed_rule(kind, meaning, [term for term in TERMS if term.kind == kind]) for kind, meaning in MEANINGS.items()
    ]
    own = keyed_rule(CUSTOM, "value of a key that the settings name", custom)
    return (
        *_providers.RULES,
        *_structured.RULES,
        *_headers.RULES,
        *message_rules((*TERMS, *custom)),
        own,
        *keyed,
        *_personal.RULES,
    )
