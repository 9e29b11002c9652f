"""The gates: may this report be kept at all? Read from the environment at each call, before anything else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache

from errorsink._settings import FALSE_WORDS, PROVIDER_GATES, Settings, encoded, raw_environment, variable
from errorsink._typing import Any

__all__ = ["closed", "override"]

_ESSENTIAL = (Settings.essential_traffic_only.env, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
_LIST = encoded(Settings.provider_gates.env)
_GATES: dict[Any, str] = {
    **{encoded(name): f"provider:{name}" for name in PROVIDER_GATES},
    encoded(Settings.disable.env): "disabled",
    **{encoded(name): "essential-traffic" for name in _ESSENTIAL},
}
"""The reasons by the encoded names of the variables, in the order in which they are asked."""

_overrides: dict[str, Any] = {}


def override(settings: Mapping[str, Any]) -> None:
    """What `configure` was given for the gates' own settings; it comes before the environment."""
    names = (Settings.provider_gates.name, Settings.disable.name, Settings.essential_traffic_only.name)
    given = {name: settings[name] for name in names if name in settings}
    _overrides.clear()
    _overrides.update(given)


def closed() -> str | None:
    """The reason why nothing may be kept or sent now; None when all gates are open."""
    environment = raw_environment()
    if _overrides or _LIST in environment:
        return _closed_by_settings()
    for key in _GATES:
        if key in environment and _closes(environment[key]):
            return _GATES[key]
    return None


def _closed_by_settings() -> str | None:
    """The same where the list of gates was replaced, or code has set one."""
    listed = variable(Settings.provider_gates.env)
    providers = Settings.provider_gates.default if listed is None else Settings.provider_gates.parse(listed)
    for name in _overrides.get(Settings.provider_gates.name, providers):
        if _is_set(name):
            return f"provider:{name}"
    if _overrides.get(Settings.disable.name, _is_set(Settings.disable.env)):
        return "disabled"
    if _overrides.get(Settings.essential_traffic_only.name, any(map(_is_set, _ESSENTIAL))):
        return "essential-traffic"
    return None


def _is_set(name: str) -> bool:
    value = variable(name)
    return value is not None and _closes(value)


@lru_cache(maxsize=64)
def _closes(value: Any) -> bool:
    """Anything but empty, 0, false, no, off (trimmed, any case) closes a gate. Remembered: it is asked at each report.

    The value is as the environment keeps it: bytes on POSIX.
    """
    return (os.fsdecode(value) if isinstance(value, bytes) else value).strip().lower() not in FALSE_WORDS
