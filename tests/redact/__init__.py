"""Redaction: the rules, the engine against its naive twin, and what must stay readable."""
