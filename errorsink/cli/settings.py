"""`errorsink settings`: every setting, its value in force, and where it comes from."""

from __future__ import annotations

import argparse
import sys
from difflib import get_close_matches
from importlib.metadata import entry_points
from typing import Any, Callable, Iterator, Mapping, Sequence, cast

from errorsink._redact import Redactor
from errorsink._settings import TABLE, Setting, Settings, environment
from errorsink.cli._command import Subparsers
from errorsink.cli._terminal import Palette, escape, shorten
from errorsink.sinks import ENTRY_POINT_GROUP

_DESCRIPTION = """\
Shows every setting with the value that a program started from this shell would use. Secrets are not shown. Values that
can't be used are named on standard error, and the exit status is 1 then. ERRORSINK_… variables that are no setting are
named there too."""
_MAX_VALUE = 60


def add_parser(subparsers: Subparsers) -> None:
    """Adds the command."""
    parser = subparsers.add_parser("settings", help="every setting and its value in force", description=_DESCRIPTION)
    parser.add_argument("--set", action="store_true", dest="only_set", help="only those that the environment sets")
    parser.add_argument("--markdown", action="store_true", help="the reference page, independent of the environment")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prints the table."""
    if args.markdown:
        print("\n".join(reference()))
        return 0
    env = environment()
    settings, problems = Settings.load(env, {})
    unusable = {problem.partition(":")[0] for problem in problems}
    paint, redact = Palette.of(sys.stdout), Redactor().redact
    for name, row in TABLE.items():
        is_set = bool(env.get(row.env, "").strip())
        if is_set or not args.only_set:
            line = f"{row.env:<44} {_in_force(row, settings.values[name], redact)}"
            source = "the default: the environment's value can't be used" if row.env in unusable else "environment"
            print(f"{paint(line, 'bold')}  ({source})" if is_set else paint(line, "dim"))
    for problem in problems:
        print(escape(redact(problem)), file=sys.stderr)
    for stranger in strangers(env):
        print(escape(stranger), file=sys.stderr)
    return 1 if problems else 0


def strangers(env: Mapping[str, str]) -> list[str]:
    """A sentence for each variable that looks like a setting and is none, nor the switch of an installed sink."""
    known = {row.env for row in TABLE.values()}
    known |= {f"ERRORSINK_{entry.name.upper()}" for entry in entry_points(group=ENTRY_POINT_GROUP)}
    unknown = sorted(name for name in env if name.startswith("ERRORSINK_") and name not in known)
    return [f"{name} {_no_setting(name)}" for name in unknown]


def _no_setting(name: str) -> str:
    likely = get_close_matches(name, [row.env for row in TABLE.values()], n=1, cutoff=0.85)
    return f"is no setting; did you mean {likely[0]}?" if likely else "is no setting, unless a sink of yours reads it"


def _in_force(row: Setting[Any], value: object, redact: Callable[[str], str]) -> str:
    if row.secret and value:
        return "(hidden)"
    return escape(shorten(redact(_plain(row, value)), _MAX_VALUE))


def _plain(row: Setting[Any], value: object) -> str:
    """A value as it would be written in the variable."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, tuple):
        return ",".join(map(str, cast("tuple[object, ...]", value))) or "(none)"
    if value is None:
        return "auto" if "auto" in row.expects else "(unset)"
    if isinstance(value, float):
        return f"{value:g}" if value < 1e6 else f"{value:.0f}"
    return str(value) or "(unset)"


# -------------------------------------------------------------------------------------------------- the reference page

_SECTIONS: Mapping[str, Sequence[str]] = {
    "errorsink": ("ERRORSINK_", "DISABLE_ERROR_REPORTING"),
    "Datadog": ("DD_",),
    "OpenTelemetry": ("OTEL_",),
}
_INTRODUCTION = """\
# Settings

<!-- Written by `make docs` from the table in errorsink/_settings.py. Change it there. -->

Every setting is an environment variable. In code, `errorsink.configure(…)` takes the same settings: the name is the
variable's in lower case, without `ERRORSINK_`. What code sets wins over the environment.

A value that can't be used is named once on standard error, with what is allowed, and the default is used; the
application runs on. The same value in `configure` raises `ConfigurationError`. `errorsink settings` shows what is in
force in your shell.

An empty variable counts as unset, but for `ERRORSINK_PROVIDER_GATES`, where empty means: no provider closes the gate.

The Datadog and OpenTelemetry variables mean what they mean elsewhere. `OTEL_EXPORTER_OTLP_LOGS_…` and
`OTEL_EXPORTER_OTLP_TRACES_…` win over `OTEL_EXPORTER_OTLP_…` for their signal.
"""


def reference() -> Iterator[str]:
    """The lines of the reference page."""
    yield from _INTRODUCTION.splitlines()
    for title, prefixes in _SECTIONS.items():
        rows = [(name, row) for name, row in TABLE.items() if row.env.startswith(tuple(prefixes))]
        yield from (
            "",
            f"## {title}",
            "",
            "| variable | `configure` | default | takes | what for |",
            "|" + " --- |" * 5,
        )
        for name, row in rows:
            default = _plain(row, row.default)
            shown = default if default.startswith("(") or default == "auto" else f"`{default}`"
            yield f"| `{row.env}` | `{name}` | {shown} | {row.expects} | {row.doc} |"
