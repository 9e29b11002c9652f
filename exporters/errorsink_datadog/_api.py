"""Datadog's API through its official client, for what isn't hot: is the key good, has the error arrived?

The client by itself has no time-out, looks for no proxy, and takes the keys along on a redirect to any host; here it
learns better. Its exceptions hold whole answers, so none of them leaves this module.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, NamedTuple

import urllib3
from datadog_api_client import ApiClient, Configuration
from datadog_api_client.exceptions import ApiException, OpenApiException
from datadog_api_client.v1.api.authentication_api import AuthenticationApi
from datadog_api_client.v2.api.logs_api import LogsApi
from datadog_api_client.v2.model.logs_list_request import LogsListRequest
from datadog_api_client.v2.model.logs_list_request_page import LogsListRequestPage
from datadog_api_client.v2.model.logs_query_filter import LogsQueryFilter

from errorsink.errors import SinkUnavailable
from errorsink_datadog._target import Endpoint

__all__ = ["Answer", "Api"]

REQUEST_TIMEOUT = 10.0
"""Seconds that connecting, and each read of an answer, may take."""


class Answer(NamedTuple):
    """What the API said."""

    status: int | None
    """The HTTP status; None where there was no answer."""
    yes: bool
    """The key is valid; the log is there."""


class Api:
    """The two questions that the check asks."""

    def __init__(
        self, host: str, api_key: str, app_key: str, proxy: Endpoint | None, auth: tuple[str, str] | None = None
    ) -> None:
        """Makes the client of the API at `host`, an origin. `auth` is for a test host or a gateway before it.

        Raises:
            SinkUnavailable: the proxy is a SOCKS proxy, which the official client can't use.
        """
        if proxy is not None and proxy.scheme.startswith("socks"):
            raise SinkUnavailable(
                "Datadog's client knows no SOCKS proxy: for the check name an http:// proxy in HTTPS_PROXY, or add the"
                " host to NO_PROXY"
            )
        configuration: Any = Configuration(  # type: ignore[no-untyped-call]  # typed in part, like the APIs below
            host=host, api_key={"apiKeyAuth": api_key, "appKeyAuth": app_key}, request_timeout=REQUEST_TIMEOUT
        )
        if proxy is not None:
            configuration.proxy = proxy.url
            if proxy.auth is not None:
                configuration.proxy_headers = urllib3.make_headers(proxy_basic_auth=":".join(proxy.auth))
        self._client: Any = ApiClient(configuration)
        if auth is not None:
            self._client.default_headers.update(urllib3.make_headers(basic_auth=":".join(auth)))
        manager = self._client.rest_client.pool_manager
        manager.request = partial(manager.request, redirect=False, retries=False)

    def validate(self) -> Answer:
        """Is the API key valid?"""
        return _ask(AuthenticationApi(self._client).validate, "valid")  # type: ignore[no-untyped-call]

    def find(self, record_id: str) -> Answer:
        """Is the log of this record there?"""
        query = LogsQueryFilter(query=f'@errorsink.id:"{record_id}"', _from="now-1h", to="now")
        body = LogsListRequest(filter=query, page=LogsListRequestPage(limit=1))
        return _ask(partial(LogsApi(self._client).list_logs, body=body), "data")  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()


def _ask(question: Callable[[], object], field: str) -> Answer:
    try:
        return Answer(200, bool(getattr(question(), field, False)))
    except ApiException as error:
        return Answer(getattr(error, "status", None) or None, False)  # typed in part
    except OpenApiException:  # an answer, but none of the API's
        return Answer(200, False)
    except (urllib3.exceptions.HTTPError, OSError):
        return Answer(None, False)
