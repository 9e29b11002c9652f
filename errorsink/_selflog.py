"""The SDK's own diagnostics: single lines on standard error, each kind once in a while, never through `logging`."""

from __future__ import annotations

import _thread
import sys
from collections.abc import Callable
from time import monotonic
from types import TracebackType

from errorsink._normalize import caller_text, in_user_code, type_name
from errorsink._tally import Tally

__all__ = ["contained", "debug", "forget", "own_threads", "say"]

INTERVAL = 300.0
"""Seconds for which a diagnostic of the same kind isn't repeated."""
MAX_LENGTH = 1_000
MAX_KINDS = 256
"""Kinds of diagnostics that are remembered; beyond it the oldest is forgotten, and may be said again."""

own_threads: set[int] = set()
"""Threads of the SDK itself: what they log is no report."""

contained = Tally()
"""Errors inside the SDK that were kept from the application."""

verbose = False
"""Set by `ERRORSINK_DEBUG`."""

clean: Callable[[str], str] = str
"""The redaction in force."""

_said: dict[str, float] = {}
_traceback_of: Callable[[BaseException], TracebackType | None] = BaseException.__dict__["__traceback__"].__get__
"""Not the attribute: a subclass may have put a property of its own in its place."""


def say(kind: str, text: str, clock: Callable[[], float] = monotonic, *, redacts: bool = True) -> bool:
    """Prints one line, unless a line of this kind was printed in the last five minutes. True when it was printed.

    Redaction may be what failed: a line that holds nothing of the application's can do without.
    """
    now = clock()
    last = _said.get(kind)
    if last is not None and now - last < INTERVAL:
        return False
    while len(_said) >= MAX_KINDS:
        _said.pop(next(iter(_said)), None)
    _said[kind] = now
    _write(text, redacts=redacts)
    return True


def has_said(beginning: str, within: float, clock: Callable[[], float] = monotonic) -> bool:
    """True when a kind that begins so was told of in the last seconds."""
    since = clock() - within
    return any(kind.startswith(beginning) and at >= since for kind, at in list(_said.items()))


def debug(text: str) -> None:
    """Prints a step of the SDK's own work where `ERRORSINK_DEBUG` asks for it."""
    if verbose:
        _write(text)


def contain(where: str, error: BaseException) -> None:
    """Counts an error inside the SDK and tells of it: a fault of ours, which the application shall not feel."""
    contained.add()
    name = type_name(type(error))  # it may have been raised by the application's code, and be as hostile as any
    text = caller_text(error, str)
    place = _innermost(error)
    say(f"contained:{where}:{name}", f"an error inside errorsink was contained in {where}: {name}: {text}{place}")


def _innermost(error: BaseException) -> str:
    """The file and line that raised it, in parentheses: what whoever looks into the fault wants to know first."""
    traceback = _traceback_of(error)
    if traceback is None:
        return ""
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    file = traceback.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
    return f" ({file}:{traceback.tb_lineno})"


def forget() -> None:
    """Everything may be said again (a new configuration, a forked child)."""
    _said.clear()


def _write(text: str, *, redacts: bool = True) -> None:
    """Writes a line with control characters escaped; where there is no standard error, the line is lost."""
    thread = _thread.get_ident()
    nested = thread in in_user_code
    in_user_code.add(thread)  # standard error may be the application's own object, which may report
    try:
        line = (clean(text) if redacts else text)[:MAX_LENGTH]
        line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)
        stream = sys.stderr
        if stream is not None:
            stream.write(f"errorsink: {line}\n")
            stream.flush()
    except Exception:  # noqa: BLE001, S110 - there is nowhere left to say it
        pass
    finally:
        if not nested:
            in_user_code.discard(thread)
