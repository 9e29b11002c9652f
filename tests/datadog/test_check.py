"""`errorsink datadog check`, step by step."""

from __future__ import annotations

import logging
import socket
from contextlib import closing
from typing import Iterator

import pytest
from errorsink_datadog._api import Api
from errorsink_datadog._check import NOT_CONFIGURED, OK, REJECTED, check
from errorsink_datadog._target import intake, proxy_for

from errorsink.cli import main
from errorsink.errors import SinkUnavailable
from tests.datadog.fake_datadog import INTAKE, SEARCH, VALIDATE, FakeDatadog
from tests.datadog.samples import KEY, config

APP_KEY = "app" + KEY


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Told(list[str]):
    """What the check said."""

    def __str__(self) -> str:
        return "\n".join(self)


@pytest.fixture
def datadog() -> Iterator[FakeDatadog]:
    """Datadog with the two keys."""
    with closing(FakeDatadog(KEY, APP_KEY)) as datadog:
        yield datadog


@pytest.fixture
def told() -> Told:
    """What the check said."""
    return Told()


def run(datadog: FakeDatadog | str, told: Told, wait: float = 60.0, **env: str) -> int:
    """The check's exit status, against a fake or a URL."""
    url = datadog if isinstance(datadog, str) else datadog.url
    clock = Clock()
    settings = config({"DD_API_KEY": KEY, "ERRORSINK_DATADOG_URL": url, **env}, diagnose=told.append)
    return check(settings, told.append, wait, clock, clock.sleep)


def test_a_good_key(datadog: FakeDatadog, told: Told) -> None:
    """The key is validated, a test error is sent through the sink, and the search is left to the user."""
    assert run(datadog, told) == OK
    assert datadog.paths() == [VALIDATE, INTAKE]
    assert "DD_APP_KEY" in told[-1]


def test_the_test_error(datadog: FakeDatadog, told: Told) -> None:
    """What is sent is one log that Error Tracking takes, and that says what it is."""
    run(datadog, told)

    (log,) = datadog.asked[1].body
    assert (log["status"], log["error"]["kind"]) == ("error", "errorsink.HarnessError")
    assert "test error" in log["message"]
    assert log["errorsink"]["id"] in str(told)


@pytest.mark.parametrize("before", [0, 5])
def test_it_is_found_again(before: int, datadog: FakeDatadog, told: Told) -> None:
    """With an application key the error is searched for by its id until it is there."""
    datadog.searches_before_found = before

    assert run(datadog, told, DD_APP_KEY=APP_KEY) == OK
    searches = [asked.body for asked in datadog.asked if asked.path == SEARCH]
    assert len(searches) == before + 1
    assert datadog.asked[1].body[0]["errorsink"]["id"] in searches[0]["filter"]["query"]


def test_it_is_never_found(datadog: FakeDatadog, told: Told) -> None:
    """The search ends at its deadline, and says where to look."""
    datadog.searches_before_found = 1_000

    assert run(datadog, told, wait=20, DD_APP_KEY=APP_KEY) == REJECTED
    assert "not found within 20 s" in told[-1]


def test_a_search_that_fails_is_made_again(datadog: FakeDatadog, told: Told) -> None:
    """A busy API is no verdict."""
    datadog.answers[SEARCH] = (429, {})

    assert run(datadog, told, wait=10, DD_APP_KEY=APP_KEY) == REJECTED
    assert "answer 429" in told[-1]
    assert datadog.paths().count(SEARCH) > 1


def test_a_refused_key(datadog: FakeDatadog, told: Told) -> None:
    """Refused at once: nothing is sent, and the sentence says what to set."""
    datadog.api_key = "another"

    assert run(datadog, told) == REJECTED
    assert datadog.paths() == [VALIDATE]
    assert "DD_API_KEY" in str(told)
    assert "DD_SITE" in str(told)


def test_a_refused_application_key(datadog: FakeDatadog, told: Told) -> None:
    """The test error is there, the search is refused: the sentence names the application key."""
    assert run(datadog, told, DD_APP_KEY="other" + KEY) == REJECTED
    assert "DD_APP_KEY" in told[-1]


@pytest.mark.parametrize("code", [404, 500])
def test_a_host_that_cannot_validate(code: int, datadog: FakeDatadog, told: Told) -> None:
    """A proxy or an Agent before the intake knows no validation; the test error decides."""
    datadog.answers[VALIDATE] = (code, {})

    assert run(datadog, told) == OK
    assert f"answered {code}" in str(told)


@pytest.mark.parametrize("code", [400, 403, 413, 429, 503])
def test_a_test_error_that_is_not_accepted(code: int, datadog: FakeDatadog, told: Told) -> None:
    """The intake's answer is told."""
    datadog.answers[INTAKE] = (code, {})

    assert run(datadog, told) == REJECTED
    assert f"answered {code}" in told[-1]


@pytest.mark.parametrize("path", [VALIDATE, INTAKE, SEARCH])
def test_a_redirect_takes_no_key_along(path: str, datadog: FakeDatadog, told: Told) -> None:
    """Whatever step is redirected, the other host isn't asked."""
    with closing(FakeDatadog(KEY, APP_KEY)) as evil:
        datadog.answers[path] = (302, {"Location": evil.url + path})
        run(datadog, told, wait=5, DD_APP_KEY=APP_KEY)

    assert evil.asked == []


def test_nobody_answers(told: Told) -> None:
    """A refused connection is told with what to check."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))

        assert run(f"http://127.0.0.1:{taken.getsockname()[1]}", told) == REJECTED

    assert "No answer" in told[-1]


@pytest.mark.parametrize(
    ("env", "named"),
    [
        ({"DD_API_KEY": ""}, "DD_API_KEY"),
        ({"ERRORSINK_DATADOG_URL": "", "DD_SITE": "nowhere.example"}, "DD_SITE"),
        ({"http_proxy": "ftp://p"}, "HTTP_PROXY"),
        ({"http_proxy": "socks5://127.0.0.1:9"}, "SOCKS"),
    ],
)
def test_not_configured(env: dict[str, str], named: str, datadog: FakeDatadog, told: Told) -> None:
    """What is missing or unusable is named, and nothing is asked."""
    assert run(datadog, told, 60, **env) == NOT_CONFIGURED
    assert named in str(told)
    assert datadog.asked == []


def test_the_proxy_is_used(datadog: FakeDatadog, told: Told) -> None:
    """Both the API and the intake are reached through the proxy of the usual variables, with its user and password."""
    word = "pass" + "word"
    proxy = datadog.url.replace("http://", f"http://me:{word}@")

    assert run("http://intake.example", told, http_proxy=proxy) == REJECTED  # the fake knows no absolute paths

    assert [asked.path for asked in datadog.asked] == [f"http://intake.example{VALIDATE}"]
    assert "proxy-authorization" in datadog.asked[0].headers
    assert word not in str(told)


def test_a_socks_proxy_is_told() -> None:
    """The official client can't use one; that is said before anything is asked."""
    proxy = proxy_for(intake("http://h", ""), {"http_proxy": "socks5://127.0.0.1:9"})

    with pytest.raises(SinkUnavailable, match="SOCKS"):
        Api("http://h", KEY, "", proxy)


def test_a_test_host_behind_a_password(datadog: FakeDatadog, told: Told) -> None:
    """User and password of the URL go to all that is asked, and are shown nowhere."""
    word = "pass" + "word"

    assert run(datadog.url.replace("http://", f"http://me:{word}@"), told, DD_APP_KEY=APP_KEY) == OK
    assert len({asked.headers["authorization"] for asked in datadog.asked}) == 1
    assert word not in str(told)


@pytest.mark.parametrize("path", [VALIDATE, INTAKE, SEARCH, None])
@pytest.mark.parametrize("code", [302, 400, 403, 500])
def test_no_key_is_told_or_logged(
    path: str | None, code: int, datadog: FakeDatadog, told: Told, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither key is in what the check says, nor in what the HTTP clients log without being asked."""
    caplog.set_level(logging.INFO)
    if path is not None:
        datadog.answers[path] = (code, {})

    run(datadog, told, wait=3, DD_APP_KEY=APP_KEY)

    assert KEY not in str(told) + caplog.text


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment without a setting of the user's own."""
    for name in ("DD_API_KEY", "DD_APP_KEY", "DD_SITE", "ERRORSINK_DATADOG", "ERRORSINK_DATADOG_URL", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_the_command(datadog: FakeDatadog, shell: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The command reads the environment, prints the sentences, and ends with the check's status."""
    shell.setenv("DD_API_KEY", KEY)
    shell.setenv("ERRORSINK_DATADOG_URL", datadog.url)

    status = main(["datadog", "check", "--wait", "5"])

    output = capsys.readouterr()
    assert (status, datadog.paths()) == (OK, [VALIDATE, INTAKE])
    assert "valid" in output.out
    assert KEY not in output.out + output.err


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ERRORSINK_DATADOG", "0", "switches"),
        ("DISABLE_ERROR_REPORTING", "1", "closed"),
        ("DD_API_KEY", KEY + "\x01", "DD_API_KEY"),
        ("DD_API_KEY", "", "DD_API_KEY"),
    ],
)
def test_the_command_without_configuration(
    name: str,
    value: str,
    said: str,
    datadog: FakeDatadog,
    shell: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Switched off, closed by a gate, or without a usable key: status 2, and nothing is asked."""
    shell.setenv("DD_API_KEY", KEY)
    shell.setenv("ERRORSINK_DATADOG_URL", datadog.url)
    shell.setenv(name, value)

    status = main(["datadog", "check"])

    output = capsys.readouterr()
    assert (status, datadog.asked) == (NOT_CONFIGURED, [])
    assert said in output.out
    assert KEY not in output.out + output.err


@pytest.mark.parametrize("arguments", [[], ["check", "--wait", "soon"], ["check", "--wait", "-1"]])
def test_wrong_use(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """argparse says what is expected, with status 2."""
    with pytest.raises(SystemExit) as ended:
        main(["datadog", *arguments])

    assert ended.value.code == 2
    assert capsys.readouterr().err
