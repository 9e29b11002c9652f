"""Credentials that a provider marks with a prefix of its own: found anywhere, also in code.

Prefixes and lengths are the providers' documented ones. A tail that is a single run of characters has no upper bound:
it is read once and then skipped, so no part of an overlong token is left behind.
"""

from errorsink._redact_rules._rule import Rule, View, matching

_END = r"(?![A-Za-z0-9_])"
_ALNUM = "[A-Za-z0-9]"
_HEX = "[0-9a-f]"


def _token(kind: str, meaning: str, literals: str, tail: str, *, joiners: str = "") -> Rule:
    """A row for tokens that begin with one of the literals (separated by spaces) and go on with the tail."""
    names = tuple(literals.split())
    prefix = "|".join(name.replace(".", r"\.") for name in names)
    return Rule(kind, meaning, names, matching(f"(?:{prefix}){tail}", joiners=joiners), in_code=True)


CLOUD = (
    _token("aws-access-key", "AWS access key id", "AKIA ASIA ABIA ACCA", "[A-Z2-7]{16}" + _END),
    _token("alibaba-access-key", "Alibaba Cloud access key id", "LTAI", _ALNUM + "{17,21}" + _END),
    _token("google-api-key", "Google API key", "AIza", r"[\w-]{35,}"),
    _token("google-oauth-token", "Google OAuth access token", "ya29.", r"[\w.-]{20,}"),
    _token("google-client-secret", "Google OAuth client secret", "GOCSPX-", r"[\w-]{20,}"),
    _token("google-refresh-token", "Google OAuth refresh token", "1//0", r"[\w-]{30,}", joiners="/.:"),
    Rule(
        "azure-client-secret",
        "Microsoft Entra client secret",
        ("8Q~",),
        matching(r"[\w.~-]{3}8Q~[\w.~-]{31,34}(?![\w~-])", before=3, joiners=".~-"),
        in_code=True,
    ),
    _token("digitalocean-token", "DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", _HEX + "{64}" + _END),
    _token("heroku-key", "Heroku API key", "HRKU-", r"[\w-]{36,}"),
    _token("databricks-token", "Databricks token", "dapi", _HEX + r"{32}(?:-\d)?" + _END),
    _token(
        "planetscale-token", "PlanetScale password or token", "pscale_pw_ pscale_tkn_ pscale_oauth_", r"[\w.-]{32,}"
    ),
    _token("supabase-key", "Supabase token or secret key", "sbp_ sb_secret_", r"[\w-]{28,}"),
    _token("tailscale-key", "Tailscale key", "tskey-", r"[a-z]{2,16}-[\w-]{16,}"),
    _token("vault-token", "HashiCorp Vault token", "hvs. hvb. hvr.", r"[\w-]{24,}"),
    Rule(
        "terraform-token",
        "HCP Terraform token",
        (".atlasv1.",),
        matching(r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}", before=14),
        in_code=True,
    ),
    _token("pulumi-token", "Pulumi access token", "pul-", _HEX + "{40}" + _END),
    _token(
        "doppler-token",
        "Doppler token",
        "dp.pt. dp.st. dp.sa. dp.ct. dp.scim. dp.audit.",
        r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}",
    ),
    _token("age-secret-key", "age secret key", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}" + _END),
)

CODE_HOSTING = (
    _token("github-token", "GitHub token", "ghp_ gho_ ghu_ ghr_", _ALNUM + "{36,}"),
    _token("github-app-token", "GitHub App installation token", "ghs_", r"[\w-]{36,}(?:\.[\w-]{1,4096}){0,2}"),
    _token("github-fine-grained-token", "GitHub fine-grained token", "github_pat_", r"\w{82,}"),
    _token(
        "gitlab-token",
        "GitLab token",
        "glpat- gldt- glft- glrt- glcbt- glptt- glimt- glagent- gloas- glsoat- glffct-",
        r"[\w-]{20,}(?:\.[\w-]{2,64}){0,3}",
    ),
    _token("atlassian-token", "Atlassian or Bitbucket token", "ATATT3 ATCTT3 ATBB", r"[\w=-]{24,}"),
    _token("npm-token", "npm token", "npm_", _ALNUM + "{36,}"),
    _token("pypi-token", "PyPI token", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZ", r"[\w-]{50,}"),
    _token("rubygems-key", "RubyGems API key", "rubygems_", _HEX + "{48}" + _END),
    _token("nuget-key", "NuGet API key", "oy2", "[a-z0-9]{43}" + _END),
    _token("docker-token", "Docker Hub token", "dckr_pat_ dckr_oat_", r"[\w-]{27,}"),
    _token("artifactory-key", "Artifactory API key", "AKCp", _ALNUM + "{69}" + _END),
    _token("buildkite-token", "Buildkite token", "bkua_", _HEX + "{40}" + _END),
    _token("circleci-token", "CircleCI token", "CCIPAT_ CCIPRJ_", r"\w{20,}"),
    _token("postman-key", "Postman API key", "PMAK-", _HEX + "{24}-" + _HEX + "{34}" + _END),
    _token("sourcegraph-token", "Sourcegraph token", "sgp_", rf"(?:(?:{_HEX}{{16}}|local)_)?{_HEX}{{40}}" + _END),
)

MESSAGING = (
    _token("slack-token", "Slack token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xapp-", "[A-Za-z0-9-]{10,}"),
    _token("slack-rotating-token", "Slack rotating token", "xoxe.xoxb- xoxe.xoxp-", "[A-Za-z0-9-]{10,}"),
    Rule(
        "slack-webhook",
        "Slack webhook address",
        ("hooks.slack.com/",),
        matching(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Z][A-Z0-9]{6,}/[\w/-]{8,})"),
        in_code=True,
    ),
    Rule(
        "discord-webhook",
        "Discord webhook address",
        ("/api/webhooks/",),
        matching(r"/api/webhooks/\d{16,20}/(?P<secret>[\w-]{60,})", bounded=False),
        in_code=True,
    ),
    Rule(
        "telegram-token",
        "Telegram bot token",
        ("00000000",),
        matching(r"\d{8,10}:[\w-]{35}(?![\w-])", joiners="-."),
        view=View.SHAPE,
        in_code=True,
    ),
    _token("twilio-key", "Twilio API key", "SK", _HEX + "{32}" + _END),
    _token("sendgrid-key", "SendGrid API key", "SG.", r"[\w-]{16,32}\.[\w-]{32,64}(?![\w-])"),
    _token("mailgun-key", "Mailgun API key", "key-", _HEX + "{32}" + _END, joiners="-"),
    _token("brevo-key", "Brevo API key", "xkeysib- xsmtpsib-", _HEX + "{64}-" + _ALNUM + "{16}" + _END),
)

PAYMENT = (
    _token("stripe-key", "Stripe API key", "sk_live_ sk_test_ rk_live_ rk_test_", _ALNUM + "{16,}"),
    _token("stripe-webhook-secret", "Stripe webhook secret", "whsec_", "[A-Za-z0-9+/=]{24,}"),
    _token("square-token", "Square token", "sq0atp- sq0csp-", r"[\w-]{22,}"),
    _token("shopify-token", "Shopify token", "shpat_ shpca_ shppa_ shpss_", "[0-9A-Fa-f]{32}" + _END),
)

OBSERVABILITY = (
    _token("datadog-token", "Datadog personal access token", "ddpat_", r"\w{20,}"),
    _token("sentry-token", "Sentry token", "sntryu_ sntrys_", r"[A-Za-z0-9+/=_-]{40,}"),
    _token("grafana-token", "Grafana token", "glsa_ glc_", "[A-Za-z0-9+/=_]{32,}"),
    _token("logfire-token", "Logfire token", "pylf_v", r"\d_[a-z]{2,8}_[A-Za-z0-9]{24,}"),
    _token("newrelic-key", "New Relic key", "NRAK- NRII- NRJS-", r"[\w-]{19,}"),
    _token("dynatrace-token", "Dynatrace token", "dt0c01. dt0s16. dt0s01.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}" + _END),
)

AI = (
    _token("openai-key", "OpenAI key", "sk-proj- sk-svcacct- sk-admin-", r"[\w-]{20,}", joiners="-"),
    _token("anthropic-key", "Anthropic key", "sk-ant-", r"[\w-]{20,}", joiners="-"),
    _token("openrouter-key", "OpenRouter key", "sk-or-v1-", _HEX + "{64}" + _END, joiners="-"),
    _token("sk-key", "key of the form sk-…: OpenAI's older keys and others", "sk-", _ALNUM + "{32,}", joiners="-"),
    _token("groq-key", "Groq key", "gsk_", _ALNUM + "{48,}"),
    _token("xai-key", "xAI key", "xai-", _ALNUM + "{64,}", joiners="-"),
    _token("perplexity-key", "Perplexity key", "pplx-", _ALNUM + "{40,}", joiners="-"),
    _token("replicate-token", "Replicate token", "r8_", _ALNUM + "{37,}"),
    _token("nvidia-key", "NVIDIA API key", "nvapi-", r"[\w-]{56,}"),
    _token("pinecone-key", "Pinecone key", "pcsk_", r"\w{40,}"),
    _token("langsmith-key", "LangSmith key", "lsv2_pt_ lsv2_sk_", _HEX + "{32}_" + _HEX + "{10}" + _END),
    _token("huggingface-token", "Hugging Face token", "hf_ api_org_", _ALNUM + "{34,}"),
    _token("notion-token", "Notion token", "ntn_", _ALNUM + "{40,}"),
    _token("linear-key", "Linear API key", "lin_api_ lin_oauth_", _ALNUM + "{40,}"),
    _token("figma-token", "Figma token", "figd_", r"[\w-]{40,}"),
)

RULES = (*CLOUD, *CODE_HOSTING, *MESSAGING, *PAYMENT, *OBSERVABILITY, *AI)
