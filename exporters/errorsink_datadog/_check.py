"""The check of the way to Datadog: the key, one test error through the sink itself, and its arrival."""

from __future__ import annotations

import os
import time
from contextlib import closing
from typing import Callable

from errorsink.errors import SinkUnavailable
from errorsink.model import ErrorRecord, Frame, uuid7
from errorsink.sinks import Sink, SinkConfig
from errorsink_datadog import datadog_sink
from errorsink_datadog._api import Api
from errorsink_datadog._target import api_host, intake, proxy_for

__all__ = ["NOT_CONFIGURED", "OK", "REJECTED", "check"]

OK, REJECTED, NOT_CONFIGURED = 0, 1, 2
"""Exit statuses: all well; something refused or didn't answer; nothing to check with."""

PAUSES = (1.0, 2.0, 3.0, 5.0)
"""Seconds between two searches; the last goes on. Datadog takes some seconds to index a log."""


class _Ended(Exception):
    """The check can't go on; the text says what is wrong and what to set."""


def check(
    config: SinkConfig,
    say: Callable[[str], None],
    wait: float = 60.0,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Checks step by step, says each result in a sentence, and returns an exit status.

    Where `ERRORSINK_DATADOG_URL` is set, its host is asked in place of the site's API: the key goes nowhere else.
    With an application key the test error is searched for, up to `wait` seconds.
    """
    try:
        sink = datadog_sink(config)
        if sink is None:
            raise SinkUnavailable("DD_API_KEY isn't set: set it to an API key of your organization")
        with closing(sink), closing(_api(config)) as api:
            _validate(api, config, say)
            record = _send(sink, config, say)
            _find(api, config, record, say, _Search(wait, clock, sleep))
    except SinkUnavailable as error:
        say(f"Not configured. {error}")
        return NOT_CONFIGURED
    except _Ended as error:
        say(str(error))
        return REJECTED
    return OK


def _api(config: SinkConfig) -> Api:
    settings = config.settings
    endpoint = intake(settings["datadog_url"], settings["dd_site"])
    host = api_host(settings["datadog_url"], settings["dd_site"])
    proxy = proxy_for(endpoint, config.env)
    return Api(host, settings["dd_api_key"], settings["dd_app_key"], proxy, endpoint.auth)


def _validate(api: Api, config: SinkConfig, say: Callable[[str], None]) -> None:
    settings = config.settings
    host = api_host(settings["datadog_url"], settings["dd_site"]).partition("://")[2]
    answer = api.validate()
    if answer.yes:
        say(f"The API key is valid at {host}.")
    elif answer.status in (200, 401, 403):
        raise _Ended(
            f"The API key is refused by {host} ({answer.status}). Set DD_API_KEY to an API key of your organization"
            f" (not an application key), and DD_SITE to the organization's site; it is {settings['dd_site']} now."
        )
    elif answer.status is None:
        raise _Ended(
            f"No answer from {host}. Check the network, DD_SITE, ERRORSINK_DATADOG_URL and the proxy variables."
        )
    else:
        say(f"The API key can't be validated: {host} answered {answer.status}. Trying the intake all the same.")


def _send(sink: Sink, config: SinkConfig, say: Callable[[str], None]) -> ErrorRecord:
    record = _test_error()
    outcome = sink.send([sink.prepare(record)], config.settings["send_timeout"])
    if outcome.status != "delivered":
        raise _Ended(f"The test error wasn't accepted. {outcome.detail}.")
    say(f"A test error was accepted; its errorsink.id is {record.id}.")
    return record


def _test_error() -> ErrorRecord:
    """An error as a program would report it, that says of itself what it is."""
    message = "a test error of `errorsink datadog check`; nothing is wrong"
    frame = Frame("check", "errorsink_datadog._check", "errorsink_datadog/_check.py", 1, True)
    stack = (
        "Traceback (most recent call last):\n"
        f'  File "{frame.file}", line {frame.line}, in {frame.function}\n'
        f"    raise HarnessError(message)\nerrorsink.HarnessError: {message}\n"
    )
    now = time.time_ns()
    return ErrorRecord(
        id=uuid7(now, int.from_bytes(os.urandom(8), "big")),
        time_ns=now,
        type="errorsink.HarnessError",
        message=message,
        stack=stack,
        fingerprint="errorsink-datadog-check",
        frames=(frame,),
        code="CHECK",
        top_frame=f"{frame.module}:{frame.function}:{frame.line}",
        entrypoint="errorsink",
        pid=os.getpid(),
    )


class _Search:
    """When to look again, and for how long."""

    def __init__(self, wait: float, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self.wait = wait
        self._clock = clock
        self._sleep = sleep
        self._start = clock()
        self._pauses = iter(PAUSES)

    @property
    def spent(self) -> float:
        return self._clock() - self._start

    def again(self) -> bool:
        """Waits a little; False when the time is over."""
        left = self.wait - self.spent
        if left <= 0:
            return False
        self._sleep(min(next(self._pauses, PAUSES[-1]), left))
        return True


def _find(api: Api, config: SinkConfig, record: ErrorRecord, say: Callable[[str], None], search: _Search) -> None:
    if not config.settings["dd_app_key"]:
        say(f'To have it searched for, set DD_APP_KEY; or search the logs for @errorsink.id:"{record.id}".')
        return
    status: int | None = None
    while search.again():
        answer = api.find(record.id)
        if answer.yes:
            say(f"It was found again after {search.spent:.0f} s.")
            return
        if answer.status in (401, 403):
            raise _Ended(
                f"The search is refused ({answer.status}). Set DD_APP_KEY to an application key of the same"
                " organization with the scope logs_read_data."
            )
        status = answer.status
    seen = "no answer" if status is None else f"answer {status}"
    raise _Ended(
        f"The test error was accepted, but not found within {search.wait:.0f} s (last {seen}). Check the exclusion"
        " filters and quotas of the organization's log indexes, or wait longer with --wait."
    )
