"""What all logs of a process have in common: service, host and tags."""

from __future__ import annotations

import socket
from typing import Any, Iterator, Mapping, NamedTuple
from urllib.parse import unquote

from errorsink_datadog._target import without_userinfo

__all__ = ["Resource", "resource_of"]

MAX_TAGS = 100
MAX_TAG = 256
"""Tags, and characters of one, that Datadog keeps."""
MAX_NAME = 100
"""Characters of a service's name that Datadog keeps; host names are held to 255, as DNS does."""


class Resource(NamedTuple):
    """The fields that are the same in every log."""

    service: str
    """Empty: each record's entrypoint is its service."""
    hostname: str
    tags: str
    """`key:value` tags, by commas."""


def resource_of(settings: Mapping[str, Any]) -> Resource:
    """The resource that the settings describe: DD_* first, then OTEL_*, then what the machine says."""
    attributes = dict(_pairs(settings["otel_resource_attributes"]))
    service = settings["dd_service"] or settings["otel_service_name"] or attributes.get("service.name", "")
    return Resource(
        service=service[:MAX_NAME],
        hostname=(settings["dd_hostname"] or socket.gethostname())[:255],
        tags=",".join(_tags(settings)),
    )


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """The pairs of OTEL_RESOURCE_ATTRIBUTES: `key=value` by commas, percent-encoded."""
    for pair in text.split(","):
        key, separator, value = pair.partition("=")
        if separator and key.strip():
            yield key.strip(), unquote(value.strip())


def _tags(settings: Mapping[str, Any]) -> list[str]:
    """The tags, each once; a setting of its own comes before the same key in DD_TAGS."""
    own = {
        "env": settings["dd_env"],
        "version": settings["dd_version"],
        "git.commit.sha": settings["dd_git_commit_sha"],
        "git.repository_url": without_userinfo(settings["dd_git_repository_url"]),
    }
    tags = [f"{key}:{_tag(value)}" for key, value in own.items() if value]
    listed: str = settings["dd_tags"]
    for tag in listed.split(",") if "," in listed else listed.split():
        key, _, value = tag.strip().partition(":")
        if key and not own.get(key):
            tags.append(f"{key}:{without_userinfo(value)}" if value else key)
    return list(dict.fromkeys(tag[:MAX_TAG] for tag in tags))[:MAX_TAGS]


def _tag(value: str) -> str:
    """A value that keeps to one tag: a comma would begin the next."""
    return value.replace(",", "_")
