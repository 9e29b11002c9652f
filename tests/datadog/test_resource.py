"""Service, host and tags."""

from __future__ import annotations

import socket

import pytest
from errorsink_datadog._resource import Resource, resource_of

from tests.datadog.samples import config


def resource(**env: str) -> Resource:
    """The resource of an environment."""
    return resource_of(config(env).settings)


@pytest.mark.parametrize(
    ("env", "service"),
    [
        ({"DD_SERVICE": "a", "OTEL_SERVICE_NAME": "b", "OTEL_RESOURCE_ATTRIBUTES": "service.name=c"}, "a"),
        ({"OTEL_SERVICE_NAME": "b", "OTEL_RESOURCE_ATTRIBUTES": "service.name=c"}, "b"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "x=1, service.name = my%20shop ,broken"}, "my shop"),
        ({}, ""),
    ],
)
def test_the_service(env: dict[str, str], service: str) -> None:
    """DD_SERVICE, else OpenTelemetry's name; where there is neither, the record's entrypoint will do."""
    assert resource(**env).service == service


@pytest.mark.parametrize(("env", "host"), [({"DD_HOSTNAME": "web-1"}, "web-1"), ({}, socket.gethostname())])
def test_the_host(env: dict[str, str], host: str) -> None:
    """DD_HOSTNAME, else the machine's name."""
    assert resource(**env).hostname == host


@pytest.mark.parametrize(
    ("env", "tags"),
    [
        ({}, ""),
        ({"DD_ENV": "prod", "DD_VERSION": "1.2"}, "env:prod,version:1.2"),
        ({"DD_TAGS": "team:shop,region:eu"}, "team:shop,region:eu"),
        ({"DD_TAGS": "team:shop region:eu"}, "team:shop,region:eu"),
        ({"DD_TAGS": " team:shop , , alone,:novalue"}, "team:shop,alone"),
        ({"DD_TAGS": "a:1,a:1,a:2"}, "a:1,a:2"),
        ({"DD_ENV": "prod", "DD_TAGS": "env:dev,team:x"}, "env:prod,team:x"),
        ({"DD_VERSION": "1,2"}, "version:1_2"),
        (
            {"DD_GIT_COMMIT_SHA": "abc", "DD_GIT_REPOSITORY_URL": "https://u:p@g.example/r.git"},
            "git.commit.sha:abc,git.repository_url:https://g.example/r.git",
        ),
        ({"DD_TAGS": "git.repository_url:https://u:p@g.example/r"}, "git.repository_url:https://g.example/r"),
    ],
)
def test_the_tags(env: dict[str, str], tags: str) -> None:
    """env, version and git first, then DD_TAGS by commas or spaces; each once, and no credentials."""
    assert resource(**env).tags == tags


def test_tags_are_bounded() -> None:
    """Datadog keeps 100 tags of 256 characters."""
    tags = resource(DD_TAGS=",".join(f"{number}:{'x' * 300}" for number in range(150))).tags.split(",")

    assert (len(tags), max(map(len, tags))) == (100, 256)
