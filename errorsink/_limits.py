"""What a report keeps, at most."""

from __future__ import annotations

__all__ = ["MAX_ATTRIBUTES", "MAX_CAUSES", "MAX_FRAMES", "MAX_MESSAGE", "MAX_STACK"]

MAX_MESSAGE = 4_000
"""Code points in `ErrorRecord.message`, the mark of a cut included."""
MAX_STACK = 16_000
"""Code points in `ErrorRecord.stack`, the mark of a cut included."""
MAX_FRAMES = 20
"""Frames a traceback keeps: the 3 outermost and the 17 innermost."""
MAX_CAUSES = 5
"""Links of the `__cause__` / `__context__` chain that are kept behind the error itself."""
MAX_ATTRIBUTES = 100
"""Attributes of one report, those of `errorsink.context` included (Datadog advises fewer than 256)."""
