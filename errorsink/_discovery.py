"""Finds the sinks: entry points of installed distributions, each asked whether it is wanted here."""

from __future__ import annotations

from importlib.metadata import EntryPoint, distributions, entry_points
from typing import Callable, Iterable, Mapping

from errorsink import _selflog
from errorsink._contract import checked_sink, passes
from errorsink._settings import FALSE_WORDS, TABLE, TRUE_WORDS, Settings
from errorsink.errors import SinkUnavailable
from errorsink.sinks import ENTRY_POINT_GROUP, Sink, SinkConfig

__all__ = ["Candidate", "candidates", "switch_of"]


class Candidate:
    """A sink that isn't switched off; it may be asked again until it has given an answer for good."""

    def __init__(self, entry: EntryPoint, config: SinkConfig) -> None:
        self.name = entry.name
        self._entry = entry
        self._config = config
        self.undecided = True
        """True until the sink is built or can't be: an auto sink that isn't wanted now may be wanted later."""

    def build(self) -> Sink | None:
        """The sink, where it is wanted now and can work."""
        try:
            built = self._entry.load()(self._config)
            sink = None if built is None else checked_sink(built, self.name)
        except SinkUnavailable as error:
            self.undecided = False
            _selflog.say(f"unavailable:{self.name}", f"{self.name} is off: {error}")
            return None
        except BaseException as error:  # a foreign distribution's fault must not cost the other sinks
            if passes(error):
                raise
            self.undecided = False
            _selflog.contain(f"the entry point of {self.name}", error)
            return None
        self.undecided = sink is None
        return sink


def candidates(settings: Settings, env: Mapping[str, str]) -> list[Candidate]:
    """All installed sinks but those that are switched off, in the order of their names."""
    found: dict[str, Candidate] = {}
    for entry in _installed():
        switch = switch_of(entry.name, settings, env)
        if switch is not False and entry.name not in found:
            config = SinkConfig(switch, settings.values, env, _diagnoser(entry.name))
            found[entry.name] = Candidate(entry, config)
    return [found[name] for name in sorted(found)]


def _installed() -> Iterable[EntryPoint]:
    try:
        return entry_points(group=ENTRY_POINT_GROUP)
    except Exception as error:  # noqa: BLE001 - one distribution with damaged entry points fails the look at all
        _selflog.say("discovery", f"a distribution has unreadable entry points and is passed over: {error}")
    found: list[EntryPoint] = []
    for distribution in distributions():
        try:
            found += [entry for entry in distribution.entry_points if entry.group == ENTRY_POINT_GROUP]
        except Exception:  # noqa: BLE001, PERF203, S112 - this is the one; it has been told of
            continue
    return found


def switch_of(name: str, settings: Settings, env: Mapping[str, str]) -> bool | None:
    """The switch of a sink: a row of the table, or `ERRORSINK_<NAME>` of a foreign one."""
    if name in TABLE:
        known: bool | None = settings.values[name]
        return known
    word = env.get(f"ERRORSINK_{name.upper()}", "").strip().lower()
    return True if word in TRUE_WORDS else False if word and word in FALSE_WORDS else None


def _diagnoser(name: str) -> Callable[[str], None]:
    def diagnose(text: str) -> None:
        _selflog.say(f"sink:{name}:{text}", f"{name}: {text}")

    return diagnose
