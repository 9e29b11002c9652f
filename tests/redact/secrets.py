"""Values that look like secrets, made when they are asked for: none is stored in this repository."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable

ALNUM = string.ascii_letters + string.digits
HEX = string.digits + "abcdef"
UPPER = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"

_random = random.Random


def run(alphabet: str, length: int, seed: object = 0) -> str:
    """Characters of an alphabet.

    The same seed makes the same ones. No character at the ends that a boundary could swallow.
    """
    generator = _random(f"{alphabet}{length}{seed}")
    inner = [generator.choice(alphabet) for _ in range(length)]
    ends = [letter for letter in alphabet if letter.isalnum()]
    inner[0], inner[-1] = generator.choice(ends), generator.choice(ends)
    return "".join(inner)


def password(seed: object = 0) -> str:
    """A password with small letters, capitals and digits."""
    return "Cn" + run(ALNUM, 10, seed) + "7x"


def jwt(seed: object = 0) -> str:
    """A signed token."""
    header, payload = (
        base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
        for text in ('{"alg":"HS256","typ":"JWT"}', f'{{"sub":"{run(string.digits, 10, seed)}"}}')
    )
    return ".".join((header, payload, run(URLSAFE, 43, seed)))


def pem(kind: str = "RSA ", lines: int = 5, seed: object = 0, *, end: bool = True) -> str:
    """A private key, whole or cut off."""
    dashes = "-" * 5
    body = "\n".join(run(BASE64, 64, (seed, line)) for line in range(lines))
    footer = f"\n{dashes}END {kind}PRIVATE KEY{dashes}" if end else ""
    return f"{dashes}BEGIN {kind}PRIVATE KEY{dashes}\n{body}{footer}"


def basic(user: str = "alice", seed: object = 0) -> str:
    """What stands after `Basic`."""
    return base64.b64encode(f"{user}:{password(seed)}".encode()).decode()


def with_luhn(digits: str) -> str:
    """The digits and their check digit."""
    total = 0
    for index, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 if index % 2 == 0 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return digits + str(-total % 10)


def card(prefix: str, length: int, seed: object = 0) -> str:
    """A card number of an issuer."""
    return with_luhn(prefix + run(string.digits, length - len(prefix) - 1, seed))


def iban(country: str, account: str) -> str:
    """An account number with the right check digits."""
    number = int("".join(str(int(character, 36)) for character in f"{account}{country}00"))
    return f"{country}{98 - number % 97:02d}{account}"


def join(*parts: str) -> str:
    """A prefix and what follows it, apart in the source so that no scanner takes the test for a leak."""
    return "".join(parts)


def _of(*parts: str | tuple[str, int]) -> Callable[[object], str]:
    """A maker: literal parts stay, an alphabet and a length become a run."""

    def make(seed: object) -> str:
        return "".join(
            part if isinstance(part, str) else run(part[0], part[1], (seed, index)) for index, part in enumerate(parts)
        )

    return make


TOKENS: dict[str, list[Callable[[object], str]]] = {
    "aws-access-key": [_of(p, (BASE32, 16)) for p in ("AKIA", "ASIA", "ABIA", "ACCA")],
    "alibaba-access-key": [_of("LTAI", (ALNUM, 20))],
    "google-api-key": [_of("AIza", (URLSAFE, 35))],
    "google-oauth-token": [_of("ya29.", (URLSAFE, 60))],
    "google-client-secret": [_of("GOCSPX-", (URLSAFE, 28))],
    "google-refresh-token": [_of("1//0", (URLSAFE, 60))],
    "azure-client-secret": [_of((ALNUM, 3), "8Q~", (ALNUM, 34))],
    "digitalocean-token": [_of(p, (HEX, 64)) for p in ("dop_v1_", "doo_v1_", "dor_v1_")],
    "heroku-key": [_of("HRKU-", (URLSAFE, 60))],
    "databricks-token": [_of("dapi", (HEX, 32)), _of("dapi", (HEX, 32), "-2")],
    "planetscale-token": [_of("pscale_pw_", (URLSAFE, 43)), _of("pscale_tkn_", (URLSAFE, 43))],
    "supabase-key": [_of("sbp_", (HEX, 40)), _of("sb_secret_", (URLSAFE, 31))],
    "tailscale-key": [_of("tskey-auth-", (ALNUM, 12), "-", (ALNUM, 24))],
    "vault-token": [_of("hvs.", (URLSAFE, 24)), _of("hvb.", (URLSAFE, 140))],
    "terraform-token": [_of((ALNUM, 14), ".atlasv1.", (URLSAFE, 67))],
    "pulumi-token": [_of("pul-", (HEX, 40))],
    "doppler-token": [_of("dp.pt.", (ALNUM, 43)), _of("dp.st.dev.", (ALNUM, 43))],
    "age-secret-key": [_of("AGE-SECRET-KEY-1", (UPPER, 58))],
    "github-token": [_of(p, (ALNUM, 36)) for p in ("ghp_", "gho_", "ghu_", "ghr_")],
    "github-app-token": [_of("ghs_", (ALNUM, 36)), lambda seed: join("gh", "s_1234567_", jwt(seed))],
    "github-fine-grained-token": [_of("github_pat_", (ALNUM, 22), "_", (ALNUM, 59))],
    "gitlab-token": [_of(p, (URLSAFE, 20)) for p in ("glpat-", "gldt-", "glrt-", "glcbt-", "glsoat-")],
    "atlassian-token": [_of("ATATT3", (URLSAFE, 180), "=", (HEX.upper(), 8)), _of("ATBB", (ALNUM, 32))],
    "npm-token": [_of("npm_", (ALNUM, 36))],
    "pypi-token": [_of("pypi-AgEIcHlwaS5vcmc", (URLSAFE, 80))],
    "rubygems-key": [_of("rubygems_", (HEX, 48))],
    "nuget-key": [_of("oy2", (string.ascii_lowercase + string.digits, 43))],
    "docker-token": [_of("dckr_pat_", (URLSAFE, 27)), _of("dckr_oat_", (URLSAFE, 32))],
    "artifactory-key": [_of("AKCp", (ALNUM, 69))],
    "buildkite-token": [_of("bkua_", (HEX, 40))],
    "circleci-token": [_of("CCIPAT_", (ALNUM, 22), "_", (HEX, 40))],
    "postman-key": [_of("PMAK-", (HEX, 24), "-", (HEX, 34))],
    "sourcegraph-token": [_of("sgp_", (HEX, 16), "_", (HEX, 40)), _of("sgp_", (HEX, 40))],
    "slack-token": [_of(p, (string.digits, 12), "-", (ALNUM, 24)) for p in ("xoxb-", "xoxp-", "xapp-1-A0-")],
    "slack-rotating-token": [_of("xoxe.xoxp-1-", (ALNUM, 160))],
    "telegram-token": [_of((string.digits[1:], 10), ":", (URLSAFE, 35))],
    "twilio-key": [_of("SK", (HEX, 32))],
    "sendgrid-key": [_of("SG.", (URLSAFE, 22), ".", (URLSAFE, 43))],
    "mailgun-key": [_of("key-", (HEX, 32))],
    "brevo-key": [_of("xkeysib-", (HEX, 64), "-", (ALNUM, 16))],
    "stripe-key": [_of(p, (ALNUM, 24)) for p in ("sk_live_", "sk_test_", "rk_live_", "rk_test_")],
    "stripe-webhook-secret": [_of("whsec_", (ALNUM, 32))],
    "square-token": [_of("sq0atp-", (URLSAFE, 22)), _of("sq0csp-", (URLSAFE, 43))],
    "shopify-token": [_of(p, (HEX, 32)) for p in ("shpat_", "shpca_", "shppa_", "shpss_")],
    "datadog-token": [_of("ddpat_", (ALNUM, 40))],
    "sentry-token": [_of("sntryu_", (HEX, 64)), _of("sntrys_", (BASE64, 120), "_", (ALNUM, 43))],
    "grafana-token": [_of("glsa_", (ALNUM, 32), "_", (HEX, 8)), _of("glc_", (BASE64, 80))],
    "logfire-token": [_of("pylf_v1_us_", (ALNUM, 43))],
    "newrelic-key": [_of("NRAK-", (UPPER, 27))],
    "dynatrace-token": [_of("dt0c01.", (UPPER, 24), ".", (UPPER, 64))],
    "openai-key": [_of(p, (URLSAFE, 70)) for p in ("sk-proj-", "sk-svcacct-", "sk-admin-")],
    "anthropic-key": [_of("sk-ant-api03-", (URLSAFE, 93), "AA")],
    "openrouter-key": [_of("sk-or-v1-", (HEX, 64))],
    "sk-key": [_of("sk-", (ALNUM, 48)), _of("sk-", (HEX, 32))],
    "groq-key": [_of("gsk_", (ALNUM, 52))],
    "xai-key": [_of("xai-", (ALNUM, 80))],
    "perplexity-key": [_of("pplx-", (ALNUM, 48))],
    "replicate-token": [_of("r8_", (ALNUM, 37))],
    "nvidia-key": [_of("nvapi-", (URLSAFE, 64))],
    "pinecone-key": [_of("pcsk_", (ALNUM, 6), "_", (ALNUM, 63))],
    "langsmith-key": [_of("lsv2_pt_", (HEX, 32), "_", (HEX, 10))],
    "huggingface-token": [_of("hf_", (string.ascii_letters, 34)), _of("api_org_", (string.ascii_letters, 34))],
    "notion-token": [_of("ntn_", (ALNUM, 46))],
    "linear-key": [_of("lin_api_", (ALNUM, 40))],
    "figma-token": [_of("figd_", (URLSAFE, 43))],
    "jwt": [jwt],
}
"""Tokens that are masked wherever they stand, by kind: one maker for each form."""
