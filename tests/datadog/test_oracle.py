"""The official client as a witness: its tables and its models take what the sink makes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from datadog_api_client import ApiClient, Configuration
from datadog_api_client.v2.api.logs_api import LogsApi
from datadog_api_client.v2.model.http_log_item import HTTPLogItem
from errorsink_datadog._answers import outcome_of
from errorsink_datadog._envelope import encode, envelope
from errorsink_datadog._target import LOGS_PATH, SITES, api_host, intake

from tests.datadog.samples import NOW_MS, RECORD, RESOURCE, record


@pytest.fixture(scope="module")
def submit_log() -> dict[str, Any]:
    """The official client's own description of the intake."""
    client: Any = ApiClient(Configuration())  # type: ignore[no-untyped-call]
    api: Any = LogsApi(client)  # type: ignore[no-untyped-call]
    settings: dict[str, Any] = api._submit_log_endpoint.settings
    return settings


def official_sites(submit_log: dict[str, Any]) -> list[str]:
    """The sites that the installed client knows; an older one knows fewer."""
    sites: list[str] = submit_log["servers"][0]["variables"]["site"]["enum_values"]
    return sites


def test_the_sites(submit_log: dict[str, Any]) -> None:
    """The table has every site of the official one."""
    assert set(official_sites(submit_log)) <= set(SITES)


def test_the_intake_of_each_site(submit_log: dict[str, Any]) -> None:
    """Host and path are those that the official client would send to."""
    configuration: Any = Configuration()  # type: ignore[no-untyped-call]

    official = {
        site: configuration.get_host_from_settings(0, variables={"site": site}, servers=submit_log["servers"])
        for site in official_sites(submit_log)
    }

    assert submit_log["endpoint_path"] == LOGS_PATH
    assert {site: intake("", site).url for site in official} == {
        site: host + LOGS_PATH for site, host in official.items()
    }


def test_the_api_of_each_site(submit_log: dict[str, Any]) -> None:
    """And so is the host that validates the key."""
    configuration: Any = Configuration()  # type: ignore[no-untyped-call]

    official = {
        site: configuration.get_host_from_settings(0, variables={"site": site}) for site in official_sites(submit_log)
    }

    assert {site: api_host("", site) for site in official} == official


def test_the_model_of_a_log() -> None:
    """The official model takes the log and changes nothing; its reserved attributes are strings, as it asks."""
    log = json.loads(encode(RECORD, RESOURCE, NOW_MS))

    model: Any = HTTPLogItem(**log)

    assert model.to_dict() == log
    assert {name: type(getattr(model, name)) for name in model.openapi_types} == dict.fromkeys(
        ("ddsource", "ddtags", "hostname", "message", "service"), str
    )


@pytest.mark.parametrize(
    "fields", [{}, {"message": ""}, {"stack": ""}, {"frames": ()}, {"handling": "uncaught_exception"}]
)
def test_what_error_tracking_asks_for(fields: dict[str, object]) -> None:
    """A kind or a stack, a service, a status of error or above, and a fingerprint that is a string: for any record."""
    log = envelope(record(**fields), RESOURCE, NOW_MS)

    assert log["error"]["kind"] or log["error"]["stack"]
    assert log["service"]
    assert log["status"] in {"error", "critical", "alert", "emergency"}
    assert isinstance(log["error"]["fingerprint"], str)


def test_the_stack_is_a_python_traceback() -> None:
    """Two lines at least, one of them a frame, as Error Tracking's grouping reads it."""
    lines = envelope(RECORD, RESOURCE, NOW_MS)["error"]["stack"].splitlines()

    assert lines[0] == "Traceback (most recent call last):"
    assert any(line.startswith('  File "') for line in lines)


def test_the_log_keeps_to_the_shape_that_is_advised() -> None:
    """Fewer than 256 attributes, keys of fewer than 50 characters, fewer than 10 levels, under 25 KB."""
    log = envelope(RECORD, RESOURCE, NOW_MS)

    def walk(value: object, depth: int = 1) -> list[tuple[str, int]]:
        if isinstance(value, dict):
            return [found for key, inner in value.items() for found in [(key, depth), *walk(inner, depth + 1)]]
        if isinstance(value, list):
            return [found for inner in value for found in walk(inner, depth + 1)]
        return []

    keys = walk(log)
    assert len({key for key, _ in keys}) < 256
    assert max(len(key) for key, _ in keys) < 50
    assert max(depth for _, depth in keys) < 10
    assert len(encode(RECORD, RESOURCE, NOW_MS)) < 25_000


def test_the_documented_answers(submit_log: dict[str, Any]) -> None:
    """What the intake's documentation calls final is final here, and the rest is tried again."""
    final, later = (400, 401, 403, 413), (408, 429, 500, 503)

    assert {outcome_of(code, {}, "h", 0).status for code in later} == {"retry"}
    assert "retry" not in {outcome_of(code, {}, "h", 0).status for code in final}
