"""Ordinary errors of many libraries, each provoked by using the library wrongly or on bad data."""

from __future__ import annotations

import asyncio
import concurrent.futures
import configparser
import contextlib
import csv
import ctypes
import datetime as dt
import decimal
import email.policy
import enum
import http.client
import http.cookies
import importlib
import ipaddress
import json
import logging.config
import netrc
import pathlib
import pickle
import plistlib
import re
import shutil
import socket
import sqlite3
import ssl
import string
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest.mock
import urllib.request
import uuid
import xml.etree.ElementTree as ET
import zipfile
import zlib
import zoneinfo
from collections.abc import Callable
from typing import Any

import anyio
import datadog_api_client.exceptions
import datadog_api_client.v2.model.http_log_item
import dateutil.parser
import gevent
import google.protobuf.json_format
import google.protobuf.struct_pb2
import grpc
import gunicorn.config
import h11
import httpcore
import httpx
import hypothesis
import idna
import iniconfig
import opentelemetry.sdk.resources
import opentelemetry.sdk.trace.sampling
import packaging.requirements
import packaging.version
import pluggy
import pygments.lexers
import pytest
import requests
import respx
import sortedcontainers
import urllib3
from google.protobuf import descriptor_pool

PROVOKED: dict[str, Callable[[], Any]] = {}


def provokes(library: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Registers a function that must raise."""

    def register(function: Callable[[], Any]) -> Callable[[], Any]:
        PROVOKED[f"{library}-{function.__name__}"] = function
        return function

    return register


def _closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


# --- the standard library -----------------------------------------------------------------------------------------


@provokes("json")
def bad_document() -> None:
    json.loads('{"tokens": 17, "password": }')


@provokes("json")
def unknown_type() -> None:
    json.dumps({"session": object()})


@provokes("sqlite3")
def no_such_column() -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute("SELECT password FROM users WHERE token = ?", ("x",))


@provokes("sqlite3")
def wrong_bindings() -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute("SELECT ?, ?", (1,))


@provokes("xml")
def mismatched_tag() -> None:
    ET.fromstring("<login><password>x</login>")


@provokes("configparser")
def no_section() -> None:
    configparser.ConfigParser().get("credentials", "password")


@provokes("configparser")
def no_header() -> None:
    configparser.ConfigParser().read_string("token\n", source="app.ini")


@provokes("csv")
def unknown_dialect() -> None:
    csv.reader([], dialect="token")


@provokes("decimal")
def not_a_number() -> None:
    decimal.Decimal("12,50")


@provokes("datetime")
def bad_date() -> None:
    dt.datetime.strptime("2024-13-01", "%Y-%m-%d")


@provokes("pathlib")
def no_such_file() -> None:
    pathlib.Path("/nonexistent/secrets/token.txt").read_text()


@provokes("subprocess")
def failing_command() -> None:
    subprocess.run([sys.executable, "-c", "raise SystemExit(3)"], check=True)


@provokes("subprocess")
def no_such_program() -> None:
    subprocess.run(["/nonexistent/tool", "--password-file", "/run/x"], check=True)


@provokes("socket")
def refused() -> None:
    socket.create_connection(("127.0.0.1", _closed_port()), timeout=5)


@provokes("ssl")
def no_such_certificate() -> None:
    ssl.create_default_context().load_cert_chain("/nonexistent/cert.pem", "/nonexistent/key.pem", password="")


@provokes("urllib")
def refused_by_host() -> None:
    urllib.request.urlopen(f"http://127.0.0.1:{_closed_port()}/login?next=/home", timeout=5)


@provokes("urllib")
def unknown_scheme() -> None:
    urllib.request.urlopen("gopher://127.0.0.1/")


@provokes("http.client")
def bad_header() -> None:
    http.client.HTTPConnection("127.0.0.1").putheader("Authorization", "a")


@provokes("http.cookies")
def bad_cookie() -> None:
    http.cookies.SimpleCookie()["a b"] = "c"


@provokes("netrc")
def bad_netrc() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "netrc")
        file.write_text("machine h login u passwort\n")
        netrc.netrc(str(file))


@provokes("compile")
def syntax_error() -> None:
    compile("def login(password=:\n", "login.py", "exec")


@provokes("compile")
def unterminated_string() -> None:
    compile("title = 'abc\n", "login.py", "exec")


@provokes("re")
def bad_pattern() -> None:
    re.compile("(?P<token>[a-z")


@provokes("struct")
def short_buffer() -> None:
    struct.unpack("<IHH", b"abc")


@provokes("zlib")
def bad_stream() -> None:
    zlib.decompress(b"not compressed")


@provokes("zipfile")
def no_zip() -> None:
    with tempfile.TemporaryFile() as file:
        zipfile.ZipFile(file)


@provokes("tarfile")
def no_tar() -> None:
    with tempfile.TemporaryFile() as file, tarfile.open(fileobj=file):
        pass


@provokes("pickle")
def bad_pickle() -> None:
    pickle.loads(b"\x80\x04K")


@provokes("codecs")
def bad_utf8() -> None:
    b"author=\xff\xfe".decode()


@provokes("codecs")
def not_ascii() -> None:
    "pässword".encode("ascii")


@provokes("asyncio")
def timeout() -> None:
    async def session() -> None:
        await asyncio.wait_for(asyncio.Event().wait(), 0)

    asyncio.run(session())


@provokes("concurrent.futures")
def failing_task() -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(int, "password").result()


@provokes("importlib")
def no_such_module() -> None:
    importlib.import_module("auth_token_provider")


@provokes("plistlib")
def bad_plist() -> None:
    plistlib.loads(b"<plist><string>x</plist>")


@provokes("ipaddress")
def bad_address() -> None:
    ipaddress.ip_address("10.0.0.256")


@provokes("uuid")
def bad_uuid() -> None:
    uuid.UUID("4bf92f35-77b3-4da6-a3ce")


@provokes("string")
def missing_key() -> None:
    string.Template("Hello $user, your $password").substitute(user="bob")


@provokes("logging")
def bad_configuration() -> None:
    logging.config.dictConfig(
        {"version": 1, "handlers": {"h": {"class": "no.such.Handler", "token": "x"}}, "root": {"handlers": ["h"]}}
    )


@provokes("unittest.mock")
def no_such_attribute() -> None:
    unittest.mock.Mock(spec=["login"]).password


@provokes("enum")
def no_such_member() -> None:
    class Token(enum.Enum):
        NAME = 1

    Token(7)


@provokes("ctypes")
def no_such_library() -> None:
    ctypes.CDLL("libsecret-nonexistent.so.1")


@provokes("email")
def bad_address_header() -> None:
    email.policy.strict.header_factory("To", "bob")[:0].addresses


@provokes("shutil")
def unknown_archive() -> None:
    shutil.unpack_archive("/nonexistent/key.pem")


@provokes("zoneinfo")
def no_such_zone() -> None:
    zoneinfo.ZoneInfo("Europe/Atlantis")


@provokes("builtins")
def unexpected_argument() -> None:
    def connect(host: str, *, password: str) -> None: ...

    connect("h", passwort="x")  # type: ignore[call-arg]


@provokes("builtins")
def no_such_key() -> None:
    {"user": 1}["password"]


@provokes("builtins")
def no_such_name() -> None:
    password = access_token  # type: ignore[name-defined]  # noqa: F821, F841


# --- third-party libraries ----------------------------------------------------------------------------------------


@provokes("httpx")
def connection_refused() -> None:
    httpx.get(f"http://127.0.0.1:{_closed_port()}/api/v2/logs")


@provokes("httpx")
def error_status() -> None:
    httpx.Response(401, request=httpx.Request("GET", "https://host.invalid/token?grant=1")).raise_for_status()


@provokes("httpx")
def bad_url() -> None:
    httpx.URL("http://[::1/token")


@provokes("httpcore")
def unsupported_protocol() -> None:
    httpcore.request("GET", "ftp://127.0.0.1/")


@provokes("h11")
def protocol_error() -> None:
    h11.Connection(h11.CLIENT).send(h11.Request(method="GET", target="/", headers=[]))


@provokes("requests")
def refused_after_retries() -> None:
    requests.get(f"http://127.0.0.1:{_closed_port()}/users/42?page=2", auth=("", ""), timeout=5)


@provokes("requests")
def no_scheme() -> None:
    requests.get("host.invalid/path", timeout=5)


@provokes("urllib3")
def exhausted_retries() -> None:
    urllib3.PoolManager(retries=urllib3.Retry(0)).request("GET", f"http://127.0.0.1:{_closed_port()}/")


@provokes("grpc")
def unavailable() -> None:
    with grpc.insecure_channel(f"127.0.0.1:{_closed_port()}") as channel:
        channel.unary_unary("/auth.Tokens/Get", _registered_method=False)(b"", timeout=5)  # type: ignore[call-arg]


@provokes("protobuf")
def bad_json() -> None:
    google.protobuf.json_format.Parse('{"token": }', google.protobuf.struct_pb2.Struct())


@provokes("protobuf")
def no_such_message() -> None:
    descriptor_pool.Default().FindMessageTypeByName("auth.Token")


@provokes("opentelemetry")
def bad_ratio() -> None:
    opentelemetry.sdk.trace.sampling.TraceIdRatioBased(2)


@provokes("opentelemetry")
def bad_resource() -> None:
    opentelemetry.sdk.resources.Resource.create({"service.name": "x"}).merge(None)  # type: ignore[arg-type]


@provokes("datadog_api_client")
def bad_type() -> None:
    datadog_api_client.v2.model.http_log_item.HTTPLogItem(message=1)  # type: ignore[arg-type]


@provokes("datadog_api_client")
def forbidden() -> None:
    response = unittest.mock.Mock(status=403, reason="Forbidden", data=b'{"errors":["Forbidden"]}')
    response.getheaders.return_value = {"content-type": "application/json"}
    raise datadog_api_client.exceptions.ForbiddenException(http_resp=response)  # type: ignore[no-untyped-call]


@provokes("dateutil")
def unknown_format() -> None:
    dateutil.parser.parse("tomorrow at token")


@provokes("gevent")
def expired() -> None:
    with gevent.Timeout(0.001):
        gevent.sleep(60)


@provokes("gunicorn")
def bad_setting() -> None:
    gunicorn.config.Config().set("workers", "many")


@provokes("hypothesis")
def bad_argument() -> None:
    hypothesis.strategies.integers(min_value=2, max_value=1).validate()


@provokes("idna")
def bad_label() -> None:
    idna.encode("to_ken.invalid")


@provokes("iniconfig")
def bad_ini() -> None:
    iniconfig.IniConfig("tox.ini", data="token\n")


@provokes("packaging")
def bad_version() -> None:
    packaging.version.Version("1.0.token")


@provokes("packaging")
def bad_requirement() -> None:
    packaging.requirements.Requirement("auth-token >= ; 1")


@provokes("pluggy")
def unknown_hook() -> None:
    manager = pluggy.PluginManager("errorsink-test")
    manager.register(type("Plugin", (), {"login": pluggy.HookimplMarker("errorsink-test")(lambda password: None)})())
    manager.check_pending()


@provokes("pygments")
def no_such_lexer() -> None:
    pygments.lexers.get_lexer_by_name("token")


@provokes("pytest")
def did_not_raise() -> None:
    with pytest.raises(KeyError):
        pass


@provokes("pytest")
def unequal() -> None:
    pytest.fail("assert {'token': 1} == {'token': 2}")


@provokes("respx")
def not_mocked() -> None:
    with respx.mock:
        httpx.get("https://host.invalid/oauth/token")


@provokes("sortedcontainers")
def not_in_list() -> None:
    sortedcontainers.SortedList([1, 2]).remove(3)


@provokes("anyio")
def no_event_loop() -> None:
    anyio.to_thread.current_default_thread_limiter()


@provokes("anyio")
def failing_group() -> None:
    async def login() -> None:
        raise PermissionError("authorization denied for user 42")

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(login)

    anyio.run(main)
