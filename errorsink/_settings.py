"""Every setting of errorsink in one table, and the only reader of `os.environ`.

A setting's name is its variable's in lower case, without `ERRORSINK_`: `ERRORSINK_QUEUE_SIZE` is
`configure(queue_size=…)`, `DD_SITE` is `configure(dd_site=…)`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from errorsink._typing import Any, Generic, TypeVar, cast, overload
from errorsink.errors import ConfigurationError

__all__ = ["TABLE", "Setting", "Settings", "encoded", "environment", "raw_environment", "variable"]

T = TypeVar("T")

FALSE_WORDS = frozenset({"", "0", "false", "no", "off"})
TRUE_WORDS = frozenset({"1", "true", "yes", "on"})


class Setting(Generic[T]):
    """One row of the table: a variable, how it is read, and what it is for."""

    __slots__ = ("default", "doc", "env", "expects", "name", "parse", "secret")

    def __init__(
        self, env: str, default: T, parse: Callable[[object], T], expects: str, doc: str, *, secret: bool = False
    ) -> None:
        self.env = env
        self.name = env.lower().removeprefix("errorsink_")
        self.default = default
        self.parse = parse
        self.expects = expects
        self.doc = doc
        self.secret = secret

    @overload
    def __get__(self, instance: None, owner: type) -> Setting[T]: ...
    @overload
    def __get__(self, instance: Settings, owner: type) -> T: ...
    def __get__(self, instance: Settings | None, owner: type) -> Setting[T] | T:
        if instance is None:
            return self
        value: T = instance.values[self.name]
        return value

    def read(self, value: object, label: str) -> T:
        """The parsed value; what can't be used raises a ConfigurationError that names it under `label`."""
        try:
            return self.parse(value)
        except (ValueError, TypeError, OverflowError):
            shown = "a value that isn't shown here" if self.secret else _shown(value)
            raise ConfigurationError(f"{label}: expected {self.expects}, got {shown}") from None


def _shown(value: object) -> str:
    """A bad value for a diagnostic: bounded, on one line, without what may be a URL's password."""
    text = repr(value) if isinstance(value, (str, int, float, bool, type(None))) else f"a {type(value).__name__}"
    if "@" in text:  # what stands before it may be a user and a password
        text = f"'…@{text.rpartition('@')[2]}"
    return text if len(text) <= 80 else text[:79] + "…"


# ------------------------------------------------------------------------------------------------ kinds of values


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value.strip()


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = _text(value).lower()
    if word in TRUE_WORDS or word in FALSE_WORDS:
        return word in TRUE_WORDS
    raise ValueError


def _switch(value: object) -> bool | None:
    if value is None or (isinstance(value, str) and value.strip().lower() in ("", "auto")):
        return None
    return _flag(value)


def _otel_disabled(value: object) -> bool:
    """OpenTelemetry's rule: only "true", in any case, disables."""
    return value if isinstance(value, bool) else _text(value).lower() == "true"


def whole(low: int, high: int) -> tuple[Callable[[object], int], str]:
    """A whole number in plain ASCII digits; no underscores, no other scripts, no exponent."""

    def parse(value: object) -> int:
        if isinstance(value, str):
            digits = value.strip()
            if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
                raise ValueError
            value = int(digits)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError
        return value

    return parse, f"a whole number from {low:,} to {high:,}"


def seconds(low: float, high: float) -> tuple[Callable[[object], float], str]:
    """A finite decimal number of seconds."""

    def parse(value: object) -> float:
        if isinstance(value, str):
            digits = value.strip()
            if not (digits.isascii() and digits.replace(".", "", 1).isdigit() and len(digits) <= 20):
                raise ValueError
            value = float(digits)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise ValueError
        return float(value)

    return parse, f"seconds from {_plain(low)} to {_plain(high)}"


def _plain(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:g}"


def _milliseconds(value: object) -> float:
    """OTLP time-outs are whole milliseconds; the value is kept in seconds."""
    return whole(1, 600_000)[0](value) / 1000


def one_of(*choices: str) -> tuple[Callable[[object], str], str]:
    """One of a few words, in any case."""

    def parse(value: object) -> str:
        word = _text(value).lower()
        if word not in choices:
            raise ValueError
        return word

    return parse, "one of " + ", ".join(choices)


def _names(value: object) -> tuple[str, ...]:
    """A comma list, or from code any iterable of strings; a lone string is never taken for letters."""
    parts: Iterable[object] = value.split(",") if isinstance(value, str) else value  # type: ignore[assignment]
    return tuple(part for part in map(_text, parts) if part)


def _url(value: object) -> str:
    url = _text(value)
    scheme, separator, rest = url.partition("://")
    if scheme.lower() not in ("http", "https") or not separator or not rest.strip("/") or any(c <= " " for c in url):
        raise ValueError
    return url


def _header_secret(value: object) -> str:
    """A key that can be the value of an HTTP header: printable ASCII without spaces."""
    key = _text(value)
    if not all("!" <= c <= "~" for c in key):
        raise ValueError
    return key


def _callable(value: object) -> Callable[[str], str] | None:
    if value is None or callable(value):
        return cast("Callable[[str], str] | None", value)
    raise TypeError


# ------------------------------------------------------------------------------------------------------- the table

_FLAG = "1/true/yes/on or 0/false/no/off"
_SWITCH = "1/true/yes/on, 0/false/no/off, or auto"
_NAMES = "a comma-separated list"
_URL = "an http:// or https:// URL"

PROVIDER_GATES = (
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_ANTHROPIC_AWS",
    "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD",
    "CLAUDE_CODE_USE_MANTLE",
)


class Settings:
    """The values in force. Attributes are the core's own settings; `values` has every row."""

    __slots__ = ("values",)

    provider_gates = Setting[tuple[str, ...]](
        "ERRORSINK_PROVIDER_GATES",
        PROVIDER_GATES,
        _names,
        _NAMES,
        "Variables that close the provider gate when set. Read at each report; may be empty.",
    )
    disable = Setting(
        "DISABLE_ERROR_REPORTING", False, _flag, _FLAG, "Closes the gate: nothing is kept or sent. Read at each report."
    )
    essential_traffic_only = Setting(
        "ERRORSINK_ESSENTIAL_TRAFFIC_ONLY",
        False,
        _flag,
        _FLAG,
        "Closes the gate, as `CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC` does. Read at each report.",
    )
    datadog = Setting(
        "ERRORSINK_DATADOG", None, _switch, _SWITCH, "The Datadog sink. Auto: on when `DD_API_KEY` is set."
    )
    otel_logs = Setting(
        "ERRORSINK_OTEL_LOGS",
        None,
        _switch,
        _SWITCH,
        "The OpenTelemetry log sink. Auto: on when an OTLP endpoint for logs is set or the application has a provider.",
    )
    otel_spans = Setting(
        "ERRORSINK_OTEL_SPANS",
        None,
        _switch,
        _SWITCH,
        "The OpenTelemetry span sink. Auto: on when an OTLP endpoint for traces is set or the application has a "
        "provider.",
    )
    queue_size = Setting(
        "ERRORSINK_QUEUE_SIZE", 4096, *whole(1, 1_000_000), "Reports that each queue holds before it merges and drops."
    )
    batch_size = Setting("ERRORSINK_BATCH_SIZE", 512, *whole(1, 10_000), "Records in one request, at most.")
    batch_delay = Setting(
        "ERRORSINK_BATCH_DELAY", 0.5, *seconds(0, 60), "How long a batch waits for more records. Flush doesn't wait."
    )
    send_timeout = Setting("ERRORSINK_SEND_TIMEOUT", 10.0, *seconds(0.1, 300), "The limit of one request.")
    retry_window = Setting(
        "ERRORSINK_RETRY_WINDOW", 300.0, *seconds(0, 86_400), "How long a batch is tried again before it is given up."
    )
    retry_max_delay = Setting(
        "ERRORSINK_RETRY_MAX_DELAY", 30.0, *seconds(0.01, 3600), "The longest wait between two tries of a batch."
    )
    shutdown_timeout = Setting(
        "ERRORSINK_SHUTDOWN_TIMEOUT", 2.0, *seconds(0, 60), "How long the exit of the process may wait, for all sinks."
    )
    spool_dir = Setting(
        "ERRORSINK_SPOOL_DIR", "", _text, "a folder", "Where undelivered records survive the process. Unset: no spool."
    )
    spool_size = Setting(
        "ERRORSINK_SPOOL_SIZE", 64_000_000, *whole(1_000_000, 100_000_000_000), "Bytes that the spool may take on disk."
    )
    spool_age = Setting(
        "ERRORSINK_SPOOL_AGE", 259_200.0, *seconds(1, 31_536_000), "How long the spool keeps a record (3 days)."
    )
    redact_disable = Setting[tuple[str, ...]](
        "ERRORSINK_REDACT_DISABLE", (), _names, _NAMES, "Kinds of secrets that are not masked; see `errorsink redact`."
    )
    redact_enable = Setting[tuple[str, ...]](
        "ERRORSINK_REDACT_ENABLE", (), _names, _NAMES, "Kinds that are off by default and shall be masked too."
    )
    redact_keys = Setting[tuple[str, ...]](
        "ERRORSINK_REDACT_KEYS", (), _names, _NAMES, "More names of keys whose values are masked, such as `pin`."
    )
    redact = Setting[Callable[[str], str] | None](
        "ERRORSINK_REDACT",
        None,
        _callable,
        "a callable (in code only)",
        "Your own hook, text to text, after the built-in rules; it may only hide more. `configure(redact=…)` only.",
    )
    entrypoint = Setting(
        "ERRORSINK_ENTRYPOINT", "", _text, "a name", "Which program this is. Default: the name of the main script."
    )
    model = Setting("ERRORSINK_MODEL", "", _text, "a name", "The model that the application works with.")
    provider = Setting("ERRORSINK_PROVIDER", "", _text, "a name", "The provider of that model.")
    debug = Setting("ERRORSINK_DEBUG", False, _flag, _FLAG, "Prints each step of the SDK's own work on standard error.")

    datadog_url = Setting(
        "ERRORSINK_DATADOG_URL", "", _url, _URL, "Where to send instead of the site's intake: a proxy, an Agent."
    )
    datadog_ignore = Setting[tuple[str, ...]](
        "ERRORSINK_DATADOG_IGNORE",
        (),
        _names,
        _NAMES,
        "More noise for Datadog: class names, `module:function` top frames; `-name` removes a filter.",
    )
    dd_api_key = Setting(
        "DD_API_KEY", "", _header_secret, "printable ASCII without spaces", "Datadog's API key.", secret=True
    )
    dd_app_key = Setting(
        "DD_APP_KEY",
        "",
        _header_secret,
        "printable ASCII without spaces",
        "Datadog's application key; `errorsink datadog check` alone uses it.",
        secret=True,
    )
    dd_site = Setting("DD_SITE", "datadoghq.com", _text, "a site such as datadoghq.eu", "Datadog's site.")
    dd_service = Setting("DD_SERVICE", "", _text, "a name", "The service. Default: `OTEL_SERVICE_NAME`, the program.")
    dd_env = Setting("DD_ENV", "", _text, "a name", "The environment, sent as the tag `env`.")
    dd_version = Setting("DD_VERSION", "", _text, "a version", "The version, sent as the tag `version`.")
    dd_tags = Setting("DD_TAGS", "", _text, "tags, by spaces or commas", "More tags, `key:value`.")
    dd_hostname = Setting("DD_HOSTNAME", "", _text, "a host name", "The host. Default: the machine's name.")
    dd_git_commit_sha = Setting("DD_GIT_COMMIT_SHA", "", _text, "a commit", "Sent as the tag `git.commit.sha`.")
    dd_git_repository_url = Setting(
        "DD_GIT_REPOSITORY_URL", "", _text, "a URL", "Sent as the tag `git.repository_url`, without credentials."
    )

    otel_sdk_disabled = Setting(
        "OTEL_SDK_DISABLED", False, _otel_disabled, "true or false", "Only `true` (any case) turns auto off."
    )
    otel_logs_exporter = Setting("OTEL_LOGS_EXPORTER", "", _text, "a name", "`none` turns the log sink's auto off.")
    otel_traces_exporter = Setting("OTEL_TRACES_EXPORTER", "", _text, "a name", "`none` turns the spans' auto off.")
    otel_service_name = Setting("OTEL_SERVICE_NAME", "", _text, "a name", "`service.name` of the resource.")
    otel_resource_attributes = Setting(
        "OTEL_RESOURCE_ATTRIBUTES", "", _text, "key=value pairs, by commas", "More attributes of the resource."
    )
    otel_semconv_exception_signal_opt_in = Setting(
        "OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN",
        "",
        _text,
        "logs or logs/dup",
        "`logs`: spans carry no exception event, since the log has it.",
    )

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    @classmethod
    def load(cls, env: Mapping[str, str], overrides: Mapping[str, object]) -> tuple[Settings, list[str]]:
        """The settings of an environment and of what code has set; and a sentence for each unusable variable.

        Raises:
            ConfigurationError: an override has an unknown name or an unusable value.
        """
        unknown = [name for name in overrides if name not in TABLE]
        if unknown:
            known = ", ".join(sorted(TABLE))
            raise ConfigurationError(f"configure({unknown[0]}=…): unknown setting; known are {known}")
        values: dict[str, Any] = {}
        problems: list[str] = []
        for name, row in TABLE.items():
            raw = env.get(row.env, "")
            if name in overrides:
                values[name] = row.read(overrides[name], f"configure({name}=…)")
            elif not raw.strip():
                values[name] = () if name == "provider_gates" and row.env in env else row.default
            else:
                try:
                    values[name] = row.read(raw, row.env)
                except ConfigurationError as error:
                    values[name] = row.default
                    problems.append(f"{error}; {_fallback(row)}")
        return cls(values), problems


def _fallback(row: Setting[Any]) -> str:
    return f"using {row.default!r}" if row.default not in ("", None, ()) else "ignored"


def _otlp_rows() -> Iterable[Setting[Any]]:
    """The OTLP exporter's variables: each for both signals, and again for logs and for traces alone."""
    kinds: tuple[tuple[str, Callable[[object], Any], str, str], ...] = (
        ("ENDPOINT", _url, _URL, "the collector"),
        ("PROTOCOL", *one_of("grpc", "http/protobuf"), "the protocol; unset: http/protobuf"),
        ("HEADERS", _text, "key=value pairs, by commas", "headers, such as the collector's token"),
        ("TIMEOUT", _milliseconds, "whole milliseconds from 1 to 600,000", "the limit of one request, in milliseconds"),
        ("COMPRESSION", *one_of("gzip", "none"), "the compression of a request"),
        ("CERTIFICATE", _text, "a file", "the CA file that vouches for the collector"),
        ("CLIENT_KEY", _text, "a file", "the client's key file"),
        ("CLIENT_CERTIFICATE", _text, "a file", "the client's certificate file"),
        ("INSECURE", _flag, _FLAG, "gRPC without TLS, where the endpoint has no scheme"),
    )
    for signal, of in (("", "OTLP"), ("LOGS_", "OTLP logs"), ("TRACES_", "OTLP traces")):
        for kind, parse, expects, doc in kinds:
            row = Setting[Any](
                f"OTEL_EXPORTER_OTLP_{signal}{kind}", None, parse, expects, f"{of}: {doc}.", secret=kind == "HEADERS"
            )
            yield row


def _core_rows() -> Iterable[Setting[Any]]:
    rows: Iterable[Any] = vars(Settings).values()
    return (row for row in rows if isinstance(row, Setting))  # pyright: ignore[reportUnknownVariableType]


TABLE: Mapping[str, Setting[Any]] = {row.name: row for row in (*_core_rows(), *_otlp_rows())}
"""Every row by its setting's name, in the order of the reference."""


# ------------------------------------------------------------------------------------------------- the environment


def environment() -> dict[str, str]:
    """A copy of the process's environment, or what of it can be read."""
    return dict(os.environ)


def variable(name: str) -> str | None:
    """One variable, read now."""
    return os.environ.get(name)


def encoded(name: str) -> Any:
    """A variable's name in the form in which `os.environ` keeps it: bytes on POSIX, upper case on Windows."""
    encode: Callable[[str], Any] = getattr(os.environ, "encodekey", str)
    return encode(name)


def raw_environment() -> Mapping[Any, Any]:
    """The mapping behind `os.environ`, by encoded names, for the one question that is asked at each report.

    `os.environ.get` costs 0.75 µs for a missing name, since it raises and catches a KeyError inside; this mapping
    answers for ten names in half of that. Where somebody has put another object in its place, that one must do.
    """
    return getattr(os.environ, "_data", os.environ)
