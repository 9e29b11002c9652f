"""What must stay readable: words that only resemble secrets, identifiers, code."""

from __future__ import annotations

import hashlib
import uuid

import pytest

from errorsink._redact import Redactor

REDACTOR = Redactor()

HARMLESS = [
    # words
    "author not found",
    "session closed by peer",
    "tokenizer failed at token 17",
    "password reset page returned 404",
    "secretary record missing",
    "dotenv file not found",
    "basic block 3",
    "authorization denied for user 42",
    "key error: 'a'",
    "C:\\Users\\svc\\app.py line 3",
    "time 12:30:45@host",
    "a@b.example",
    "token 17",
    "unexpected token: '}'",
    "Unexpected token < in JSON at position 0",
    "token: expected string or bytes-like object",
    "password: this field is required",
    "{'password': ['This field may not be blank.']}",
    '{"password": "must have at least 8 characters"}',
    "the password is required",
    "the token is expired",
    "secret must be set",
    "API key is missing",
    "Incorrect API key provided",
    "connect() got an unexpected keyword argument 'password'",
    "missing 1 required positional argument: 'token'",
    "KeyError: 'api_key'",
    "name 'access_token' is not defined",
    "usage: app [--password PASSWORD] [--token TOKEN]",
    "the option --password requires an argument",
    "--token is required",
    "--password-file /run/secrets/db",
    "def login(user: str, password: str = ..., token: Optional[str] = None)",
    # stand-ins for a secret
    "SecretStr('**********')",
    "password=SecretStr('**********')",
    "password=None, token=null, secret=undefined",
    "password=<hidden> token=[Filtered] secret=*****",
    "password=%s token=%(token)s secret={secret} api_key=${API_KEY} pass=$PASS",
    "password=password",
    "PWD=/srv/app OLDPWD=/ PATH=/usr/bin",
    # counts and settings about secrets
    "max_tokens=4096 token_count=17 num_tokens: 12",
    "token_type=bearer token_url=https://h/token expires_in=3600",
    "secret_name=db-main secretName: db-main key_id=17 author=bob",
    "session_count=3 cookie_policy=strict auth_required=yes",
    # identifiers
    hashlib.sha1(b"commit").hexdigest(),
    hashlib.sha256(b"layer").hexdigest(),
    f"sha256:{hashlib.sha256(b'image').hexdigest()}",
    str(uuid.UUID(int=0x4BF92F3577B34DA6A3CE929D0E0E4736)),
    "trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7",
    "<app.Session object at 0x7f3a5c0d9e50>",
    "OID 1.3.6.1.5.5.7.3.1",
    "10.1.2.3:5432 192.168.0.1 8.8.8.8",
    "package.module.sub:function:120",
    'File "/srv/app/auth/token.py", line 17, in get_token',
    "order 4111111111111112",
    "2024-01-02T03:04:05.678901+00:00",
    "build 20241130123456789",
    "https://host/path?page=2&sort=name#top",
    "http://host:8080/users/@me",
    "git@github.com:org/repo.git",
    "image@sha256",
    "getty@tty1.service failed",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_text_stays(text: str) -> None:
    """Nothing in it is masked, and it's the same object."""
    assert REDACTOR.redact(text) is text
