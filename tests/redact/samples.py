"""For each kind that has no prefix of its own.

Texts in which `§` stands for a secret, and texts that only look alike.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from string import ascii_lowercase
from typing import NamedTuple

from tests.redact import secrets
from tests.redact.secrets import ALNUM, BASE64, HEX, join, run

PASSWORD = secrets.password()
KEY32 = run(HEX, 32, "key")
BASIC = secrets.basic()
WORD = run(ascii_lowercase, 16, "word")


class Samples(NamedTuple):
    """Pairs of a text and its secret, and near misses."""

    positive: Sequence[tuple[str, str]]
    near: Sequence[str]


def _with(secret: str, *texts: str) -> list[tuple[str, str]]:
    return [(text, secret) for text in texts]


HOOK = "T" + run(secrets.UPPER, 9) + "/B" + run(secrets.UPPER, 9) + "/" + run(ALNUM, 24)

STRUCTURED = {
    "slack-webhook": Samples(
        _with(
            HOOK,
            "https://hooks.slack.com/services/§",
            "POST hooks.slack.com/services/§ failed",
            "'https://hooks.slack.com/services/§'",
        ),
        ["https://hooks.slack.com/", "hooks.slack.com/services/", "https://slack.com/services/" + HOOK],
    ),
    "discord-webhook": Samples(
        _with(
            run(secrets.URLSAFE, 68),
            "https://discord.com/api/webhooks/123456789012345678/§",
            "discordapp.com/api/webhooks/123456789012345678/§ 404",
            "'/api/webhooks/123456789012345678/§'",
        ),
        [
            "https://discord.com/api/webhooks/",
            "GET /api/webhooks/17/deliveries",
            "/api/webhooks/123456789012345678/short",
        ],
    ),
    "private-key": Samples(
        [
            ("§", secrets.pem()),
            ("key:\n§", secrets.pem("EC ", end=False)),
            ("{'key': '§'}", secrets.pem("").replace("\n", "\\n")),
            ("§\nafter", secrets.pem("ENCRYPTED ")),
        ],
        [
            "expected '-----BEGIN PRIVATE KEY-----' in the file",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----\n" + run(BASE64, 64) + "\n-----END PUBLIC KEY-----",
            "no BEGIN PRIVATE KEY line",
        ],
    ),
    "basic-credentials": Samples(
        _with(BASIC, "Basic §", "got header basic § from proxy", "Basic §, retrying"),
        [
            "basic block 3",
            "Basic authentication required",
            f"Basic {b64encode(b'no colon in here').decode()}",
        ],
    ),
    "bearer-token": Samples(
        _with(run(ALNUM, 30, "bearer"), "sent Bearer §", "bearer § is expired", "'Bearer §'", "Bearer%20§"),
        [
            "Bearer authentication failed",
            'WWW-Authenticate: Bearer realm="api", error="invalid_token"',
            "the bearer of bad news",
            "Bearer token",
        ],
    ),
    "authorization": Samples(
        [
            *_with(
                PASSWORD, "Authorization: Token §", "{'Authorization': 'token §'}", "(b'authorization', b'ApiKey §')"
            ),
            *_with(PASSWORD, '{"Authorization": "§"}', "-H 'authorization: §'", "HTTP_AUTHORIZATION='§'"),
            ("Authorization: Digest §", f'username="u", realm="r", response="{KEY32}"'),
            ("Proxy-Authorization: Negotiate §", run(BASE64, 80, "spnego")),
            *_with(
                WORD,
                "Authorization: Bearer §",
                "Authorization: Bearer § for bob",
                "authorization: basic §\nHost: h",
                "{'Authorization': 'Bearer §'}",
                "Proxy-Authorization: Basic §\r\n",
                "GET / HTTP/1.1\\r\\nAuthorization: Bearer §\\r\\nHost: h",
                "Authorization%3A%20Bearer%20§",
                "Authorization: §",
                "authorization: §\nHost: h",
                "curl -H 'Authorization: §' https://h",
            ),
            ("Authorization: §", "abc.def-ghi"),
            ("Authorization: Bearer §", "abc.def-ghi"),
        ],
        [
            "authorization denied for user 42",
            "Authorization: required",
            "Authorization: forbidden.",
            "Authorization: Bearer",
            "Authorization: Bearer token",
            "Authorization: Bearer <token>",
            "Authorization: Bearer {token}",
            "Authorization: Bearer $TOKEN",
            "Authorization: Bearer YOUR_TOKEN",
            "Authorization: Bearer access_token",
            'Authorization: Bearer realm="api"',
            "{'Authorization': 'Bearer token'}",
            "{'Authorization': 'required'}",
            "{'Authorization': ['This field is required.']}",
            "['Authorization', 'Content-Type']",
            "authorization: token lookup failed",
            "authorization: self.header",
            "authorization: Optional[str] = None",
            "authorization: str",
            "authorization: see below",
            "authorization: access denied",
            "authorization = None",
        ],
    ),
    "cookie": Samples(
        _with(f"sid={PASSWORD}; theme=dark", "Cookie: §", "{'Cookie': '§'}", "('cookie', '§')", "cookie: §\r\nHost: h"),
        ["cookie: not found", "cookies, max_age=3", "the cookie name=value form", "Cookie: "],
    ),
    "set-cookie": Samples(
        _with(
            PASSWORD,
            "Set-Cookie: sid=§; Path=/; HttpOnly",
            "{'set-cookie': 'sid=§; Secure'}",
            "(b'set-cookie', b'sid=§')",
        ),
        ["Set-Cookie: missing", "set-cookie header too long", "set_cookie(name, value)"],
    ),
    "cookie-jar": Samples(
        _with(
            PASSWORD,
            "<RequestsCookieJar[<Cookie sid=§ for example.com/>]>",
            "<Cookie sid=§ for h/>",
            "[<Cookie a=§ for x/>, 1]",
        ),
        ["<Cookie sid for example.com/>", "<CookieJar sid=1 for x>", "Cookie sid of h"],
    ),
    "url-password": Samples(
        [
            *_with(
                PASSWORD,
                "postgresql://admin:§@db.invalid:5432/x",
                "redis://:§@h:6379/0",
                "//user:§@h/cb",
                "amqp://u:§@h//v",
            ),
            ("mongodb+srv://u:§@h/", PASSWORD + "%40"),
            ("http://u:§@host/p", PASSWORD + "@x"),
            ("postgresql://u:§@host/p", "p/" + PASSWORD),
        ],
        [
            "http://host:8080/@user",
            "https://user@host/path",
            "time 12:30:45@host",
            "http://[::1]:80/a@b",
            "see http://h/a:b and @someone",
            "http://user:{password}@host/",
            "http://user:***@host/",
        ],
    ),
    "command-line-user": Samples(
        _with(
            PASSWORD,
            "curl -u bob:§ https://h",
            "curl --user 'bob:§' h",
            "['curl', '-u', 'bob:§', 'h']",
            "x --user=bob:§",
        ),
        ["docker run -u 1000:1000 x", "curl -u bob https://h", "tar -u a:b", "--user-agent a:bcdef", "x-u bob:secret1"],
    ),
    "command-line-password": Samples(
        _with(
            PASSWORD,
            "Command '['mysql', '-uroot', '-p§']' returned non-zero exit status 1.",
            "Command 'mysqldump -uroot -p§' timed out",
            "mariadb -u root -p§ db",
            "/usr/bin/mysqladmin -uroot -p'§' ping",
            "sshpass -p § ssh h",
            "sshpass -p§ ssh h",
            "['sshpass', '-p', '§', 'ssh', 'h']",
            '["sshpass", "-p§", "ssh"]',
        ),
        [
            "mysql -uroot -p db",
            '["mysql", "-p", "-uroot"]',
            'mysql -uroot -p"$PW" db',
            "mysql -uroot -p$MYSQL_PASSWORD db",
            "mysql -ppassword",
            "docker run --name mysql -p3306:3306 x",
            "mysql -e x | grep -pabc1",
            "sshpass -e ssh h",
            "mysql --port 3306 --protocol tcp",
            "mypy -pmysql1",
        ],
    ),
    "aws-signature": Samples(
        _with(
            run(HEX, 64, "amz"), "https://b.s3/k?X-Amz-Signature=§", "X-Amz-Signature%3D§", "x-amz-security-token: §"
        ),
        ["X-Amz-Signature missing", "X-Amz-Signature=", "X-Amz-SignedHeaders=host"],
    ),
    "gcs-signature": Samples(
        _with(
            run(HEX, 128, "goog"),
            "https://storage/k?X-Goog-Signature=§",
            "x-goog-signature=§&a=1",
            "X-Goog-Signature%3D§",
        ),
        ["X-Goog-Signature missing", "X-Goog-Signature=abc", "X-Goog-SignedHeaders=host"],
    ),
    "azure-sas": Samples(
        _with(run(ALNUM, 41, "sas") + "%3D", "https://a.blob/c?sv=1&sig=§", "?sig=§&se=2", "url 'x?sp=r&sig=§'"),
        ["sig=abc", "sig=inspect.signature", "sig=SIGTERM", "design=" + "a" * 44],
    ),
    "azure-storage-key": Samples(
        _with(
            run(BASE64, 86, "az") + "==",
            "AccountName=a;AccountKey=§;EndpointSuffix=x",
            "accountkey=§",
            "AccountKey%3D§",
        ),
        ["AccountKey=", "AccountKey is missing", "AccountName=abc"],
    ),
    "azure-shared-key": Samples(
        _with(
            run(BASE64, 43, "sb") + "=",
            "Endpoint=sb://n/;SharedAccessKeyName=k;SharedAccessKey=§",
            "SharedAccessKey=§;E=p",
            "sharedaccesskey=§",
        ),
        ["SharedAccessKeyName=Root", "SharedAccessKey=short", "SharedAccessKey missing"],
    ),
    "password-hash": Samples(
        [
            *_with("$2b$12$" + run(ALNUM, 53, "bcrypt"), "row ('u', '§')", "§", "hash=§ for u"),
            ("§ x", "$argon2id$v=19$m=65536,t=3,p=4$" + run(BASE64, 22) + "$" + run(BASE64, 43)),
            ("u:§:19000", "$6$" + run(ALNUM, 8) + "$" + run(ALNUM, 86)),
        ],
        ["$2b$ prefix", "$2b$12$short", "costs $5 and $6", "$argon2id is not supported"],
    ),
}

MESSAGES = {
    "validation-input": Samples(
        [
            *_with(
                PASSWORD,
                "1 validation error for Login\npassword\n  too short [type=x, input_value='§', input_type=str]",
                "user.api_key\n  bad [type=x, input_value='§', input_type=str]",
                "err\\ntoken\\n  bad [type=x, input_value='§', input_type=str]",
            ),
            ("M\n  x [type=y, input_value={'user': 'bob', 'p...§}, input_type=dict]", f"rd': '{PASSWORD}'"),
        ],
        [
            "1 validation error for M\nname\n  bad [type=x, input_value='bob the builder', input_type=str]",
            "token_count\n  bad [type=x, input_value='twelve', input_type=str]",
            "password\n  Field required [type=missing, input_value={'a': 1}, input_type=dict]",
        ],
    ),
    "sql-key-detail": Samples(
        _with(
            PASSWORD,
            "DETAIL:  Key (api_token)=(§) already exists.",
            "Key (password)=(§) already",
            'Key (tenant, secret)=(§) is "x"',
        ),
        [
            "Key (id)=(17) already exists.",
            "Key (name, city)=(bob, rome) already exists.",
            "Key (token_count)=(5) exists",
        ],
    ),
    "sql-duplicate": Samples(
        _with(
            PASSWORD,
            "Duplicate entry '§' for key 'users.api_token'",
            "(1062, \"Duplicate entry '§' for key 'password'\")",
            "duplicate entry '§' for key secret",
        ),
        [
            "Duplicate entry 'bob' for key 'users.name'",
            "Duplicate entry 'x' for key 'PRIMARY'",
            "duplicate entry found",
        ],
    ),
    "sql-identified-by": Samples(
        _with(
            PASSWORD,
            "CREATE USER u IDENTIFIED BY '§'",
            'alter user u identified by "§" x',
            "IDENTIFIED BY PASSWORD '§'",
        ),
        ["is identified by the name", "IDENTIFIED BY '***'", "identified by %s"],
    ),
    "sql-row": Samples(
        _with(
            f"1, bob, {PASSWORD}, null",
            "DETAIL:  Failing row contains (§).",
            "failing row contains (§)",
            "Failing row contains (§). x",
        ),
        ["Failing row contains no value", "failing row (1, 2)", "row contains (1, 2)"],
    ),
    "sql-parameters": Samples(
        _with(
            f"'bob', '{PASSWORD}'",
            "[SQL: INSERT INTO users (name, password) VALUES (?, ?)]\n[parameters: (§)]\nmore",
            "[SQL: UPDATE users SET api_key=? WHERE name=?]\n[parameters: (§)]",
            "[SQL: SELECT secret FROM t]\\n[parameters: (§)]\\n",
        ),
        [
            "[SQL: SELECT name FROM t WHERE id=?]\n[parameters: (17,)]",
            "[parameters: (1, 2)]",
            "[SQL: SELECT 1]\n[parameters: ()]",
        ],
    ),
}

PERSONAL = {
    "payment-card": Samples(
        [
            ("card § declined", secrets.card("4", 16)),
            ("'§'", secrets.card("37", 15)),
            ("§", " ".join(secrets.card("51", 16)[i : i + 4] for i in range(0, 16, 4))),
            ("n=§,", "-".join(secrets.card("6011", 16)[i : i + 4] for i in range(0, 16, 4))),
            ("test card §", "4" + "1" * 15),
            ("amex §.", (lambda c: f"{c[:4]} {c[4:10]} {c[10:]}")(secrets.card("34", 15))),
        ],
        [
            "order " + secrets.card("4", 16)[:-1] + str((int(secrets.card("4", 16)[-1]) + 1) % 10),
            "id " + secrets.with_luhn("9" + "12345678901234"),
            "trace 1732982400000000",
            "0000000000000000",
            "v" + secrets.card("4", 16),
        ],
    ),
    "iban": Samples(
        [
            ("account § closed", secrets.iban("DE", "370400440532013000")),
            ("'§'", secrets.iban("GB", "WEST12345698765432")),
            (
                "§.",
                (lambda i: " ".join(i[k : k + 4] for k in range(0, len(i), 4)))(
                    secrets.iban("FR", "20041010050500013M02606")
                ),
            ),
        ],
        [
            "DE" + "12" + "370400440532013000",
            "XX89370400440532013000",
            secrets.iban("DE", "370400440532013000") + "9",
            "SHA256 DE89",
        ],
    ),
    "us-ssn": Samples(
        _with("123-45-6789", "ssn § invalid", "('§',)", "§"),
        ["000-45-6789", "923-45-6789", "123-45-67890", "1-123-45-6789", "2024-10-2024", "666-45-6789"],
    ),
    "email": Samples(
        [
            *_with("jane.doe@corp.example", "user § not found", "<§>", "mailto:§", "'§'"),
            ("x=§", "j+tag@mail.example.co.uk"),
            ("q=§&a=1", "jo%40mail.org"),
        ],
        [
            "a@b.example",
            "git@github.com:org/repo.git",
            "logo@2x.png",
            "user@1000.service",
            "x @ y.z",
            "@app.route",
            "w@x.T",
            "pkg@1.2.3",
            "me@localhost",
        ],
    ),
    "home-user": Samples(
        [
            *_with(
                "janedoe",
                'File "/home/§/app/m.py", line 3',
                "/Users/§/x",
                "file:///home/§/x",
                "PATH=/home/§/bin:/bin",
                "C:/Users/§/x",
            ),
            ("/mnt/c/Users/§/x", "jd"),
        ],
        [
            "/home/runner/work",
            "/srv/home/janedoe/x",
            "GET /users/42",
            "https://h/home/dashboard",
            "/Users/Shared/x",
            "/home/",
        ],
    ),
    "windows-user": Samples(
        [
            *_with(
                "janedoe", "C:\\Users\\§\\x.py", "'C:\\\\Users\\\\§\\\\x.py'", "c:\\users\\§", "\\\\srv\\Users\\§\\x"
            ),
            ("D:\\Users\\§\\x", "Jane Doe"),
        ],
        ["C:\\Users\\svc\\app.py line 3", "C:\\Users\\Public\\x", "HKEY\\Users", "users\\ are", "\\Users\\x"],
    ),
    "public-ip": Samples(
        [("from § refused", "8.8.8.8"), ("('§', 443)", "140.82.121.3"), ("[§]:443", "2606:4700:4700::1111")],
        [
            "10.0.0.1",
            "192.168.1.1",
            "127.0.0.1",
            "version 1.2.3",
            "1.2.3.4.5",
            "300.1.1.1",
            "203.0.113.7",
            "::1",
            "12:30:45",
            "v8.8.8.8",
        ],
    ),
}

_FORMS = ("{name}=§", "{name}: '§'", '"{name}": "§", "x": 1', "export {upper}=§\n", "--{dashed} §", "{name}%3D§%26a")


def _named(names: str, near: Sequence[str], secret: str = PASSWORD) -> Samples:
    """The usual notations for each name, and near misses."""
    positive = [
        (form.format(name=name, upper=name.upper(), dashed=name.replace("_", "-")), secret)
        for name in names.split()
        for form in _FORMS
    ]
    return Samples(positive, near)


KEYED = {
    "aws-secret-key": _named(
        "aws_secret_access_key secretAccessKey aws_secret_key",
        ["secret_access_key=None", "aws_secret_access_key_id: 17", "secret access key missing"],
        run(BASE64, 40, "aws"),
    ),
    "datadog-key": _named(
        "dd_api_key DD_APP_KEY datadog_api_key", ["DD_API_KEY is not set", "dd_api_key=", "dd_api_key_name=prod"], KEY32
    ),
    "api-key": _named(
        "api_key apiKey x-api-key app_key subscription_key",
        ["api_key=None", "api key missing", "api_key_id=key1", "apikeys=2"],
    ),
    "encryption-key": _named(
        "private_key signingKey encryption_key master_key",
        ["private_key=None", "master_key_path=/x", "the signing key expired"],
    ),
    "card-security-code": Samples(
        [
            *_named("cvv cvc card_number", [], "7391").positive,
            *_named("cvv cvc cvn security_code", [], "739").positive,
            *_with("739", '{"cvv": §}', "{'cvv': §, 'name': 'bob'}", "<cvc>§</cvc>", "cvv: §", "the cvv is §."),
        ],
        ["cvv missing", "cvv=12", "card_number_length=16", "cvv: 3 digits", "cvv: None", "cvv_length=123"],
    ),
    "one-time-code": _named(
        "otp passcode verification_code", ["otp expired", "otp=None", "otp_length=6", "adopt=yes1"], "739182"
    ),
    "session-id": _named(
        "session_id sessionid JSESSIONID PHPSESSID", ["session closed by peer", "session_count=17", "session_id=None"]
    ),
    "credential": _named(
        "credential credentials auth",
        ["author not found", "auth failed for bob", "credentials: missing", "auth=self._auth", "auth=None"],
    ),
    "secret": _named(
        "secret client_secret secretKey SECRET_KEY_BASE",
        ["secretary record missing", "secret_name=db1prod", "secret not found", "secrets=3"],
    ),
    "token": _named(
        "token access_token refreshToken csrf x-auth-token jwt",
        [
            "tokenizer failed at token 17",
            "unexpected token: 'abc123'",
            "token=17",
            "max_tokens=4096",
            "token: expected string",
            "token_count=99",
        ],
    ),
    "password": _named(
        "password passwd pwd dbPassword db_pass passphrase password_confirmation",
        [
            "password reset page returned 404",
            "password=None",
            "PWD=/srv/app",
            "bypass=yes12",
            "password: field required",
            "password=password",
            "SecretStr('**********')",
        ],
    ),
}

SAMPLES = {**STRUCTURED, **MESSAGES, **PERSONAL, **KEYED}


def tokens(kind: str) -> Samples:
    """Samples of a kind that a prefix gives away, in a few surroundings."""
    positive: list[tuple[str, str]] = []
    near: list[str] = []
    for number, make in enumerate(secrets.TOKENS[kind]):
        token = make(number)
        positive += _with(
            token,
            "§",
            "failed with '§'",
            "https://h/x?t%3D§",
            "line\\n§\\n",
            '  File "a.py", line 1, in f\n    g(§)\n',
        )
        other_case = token.swapcase()
        near += [f"x{token}", f"{token[:4]} is a prefix", token[: max(5, len(token) // 10)]]
        near += [other_case] if other_case[:4] != token[:4] else []
    return Samples(positive, near)


__all__ = ["SAMPLES", "Samples", "join", "tokens"]
