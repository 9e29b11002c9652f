"""The gates: may this report be kept at all? Read from the environment at each call, before anything else."""

from __future__ import annotations

from typing import Any, Mapping

from errorsink import _settings
from errorsink._settings import Settings, truthy

__all__ = ["closed", "override"]

_ESSENTIAL = (Settings.essential_traffic_only.env, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
_ALL = _settings.encoded((*_settings.PROVIDER_GATES, Settings.provider_gates.env, Settings.disable.env, *_ESSENTIAL))

_overrides: dict[str, Any] = {}


def override(settings: Mapping[str, Any]) -> None:
    """What `configure` was given for the gates' own settings; it comes before the environment."""
    names = (Settings.provider_gates.name, Settings.disable.name, Settings.essential_traffic_only.name)
    given = {name: settings[name] for name in names if name in settings}
    _overrides.clear()
    _overrides.update(given)


def closed() -> str | None:
    """The reason why nothing may be kept or sent now; None when all gates are open."""
    if not _overrides and not _settings.sets_any(_ALL):
        return None
    return _closed_by()


def _closed_by() -> str | None:
    for name in _provider_gates():
        if truthy(_settings.variable(name)):
            return f"provider:{name}"
    if _flag(Settings.disable.name, (Settings.disable.env,)):
        return "disabled"
    if _flag(Settings.essential_traffic_only.name, _ESSENTIAL):
        return "essential-traffic"
    return None


def _provider_gates() -> tuple[str, ...]:
    row = Settings.provider_gates
    if row.name in _overrides:
        names: tuple[str, ...] = _overrides[row.name]
        return names
    listed = _settings.variable(row.env)
    return row.default if listed is None else row.parse(listed)


def _flag(name: str, variables: tuple[str, ...]) -> bool:
    if name in _overrides:
        return bool(_overrides[name])
    return any(truthy(_settings.variable(variable)) for variable in variables)
