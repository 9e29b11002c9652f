"""A secret's name and its value in two fields: environment variables, tags and parameters of cloud services."""

from __future__ import annotations

import json
import pprint

import pytest

from errorsink._redact import Redactor
from tests.redact import secrets

REDACTOR = Redactor()
SECRET = secrets.password("pairs")
VARIABLES = [{"name": "DB_PASSWORD", "value": SECRET}, {"name": "HOME", "value": "/srv"}]
PARAMETER = {"Name": "/prod/db/password", "Type": "SecureString", "Value": SECRET, "Version": 1}

PAIRS = {
    "repr": repr(VARIABLES),
    "repr in a repr": repr(repr(VARIABLES)),
    "pprint": pprint.pformat([{**VARIABLES[0], "value_from": None}], width=40),
    "JSON": json.dumps(VARIABLES),
    "JSON, compact": json.dumps(VARIABLES, separators=(",", ":")),
    "JSON, indented": json.dumps(VARIABLES, indent=4),
    "JSON in JSON": json.dumps({"body": json.dumps(VARIABLES, indent=2)}),
    "a key": json.dumps({"key": "DB_PASSWORD", "value": SECRET}),
    "a tag": repr([{"Key": "password", "Value": SECRET}]),
    "a parameter of a stack": json.dumps({"ParameterKey": "DBPassword", "ParameterValue": SECRET}),
    "a parameter with a path": repr(PARAMETER),
    "Go": f'v1.EnvVar{{Name:"DB_PASSWORD", Value:"{SECRET}", ValueFrom:(*v1.EnvVarSource)(nil)}}',
    "YAML": f"env:\n  - name: DB_PASSWORD\n    value: {SECRET}\n  - name: HOME\n    value: /srv\n",
    "YAML, quoted": f"- name: 'DB_PASSWORD'\n  value: \"{SECRET}\"\n- name: HOME\n",
    "YAML, a blank and a comment": f"- name: DB_PASSWORD\n  value: {SECRET} # why\n",
    "YAML, escaped": f"env:\\n- name: DB_PASSWORD\\n  value: {SECRET}\\n- name: HOME",
}


@pytest.mark.parametrize("notation", PAIRS)
def test_the_value_beside_a_sensitive_name_is_masked(notation: str) -> None:
    """And nothing else."""
    text = PAIRS[notation]
    assert REDACTOR.redact(text) == text.replace(SECRET, "[REDACTED:password]")


@pytest.mark.parametrize("value", ["12345678", "correct horse", "hash#and'quote\"1"])
def test_any_value_beside_a_sensitive_name_is_masked(value: str) -> None:
    """Also one of digits alone, and one with blanks."""
    assert REDACTOR.redact(json.dumps({"name": "DB_PASSWORD", "value": value})) == (
        '{"name": "DB_PASSWORD", "value": "[REDACTED:password]"}'
    )
    assert REDACTOR.redact(f"- name: DB_PASSWORD\n  value: {value}\n") == (
        "- name: DB_PASSWORD\n  value: [REDACTED:password]\n"
    )


def test_a_token_in_a_variable_may_look_like_a_word() -> None:
    """The capitals say that a variable is meant, no lexer's token."""
    value = secrets.run("abcdefgh", 8)
    redacted = REDACTOR.redact(repr({"name": "API_TOKEN", "value": value}))
    assert redacted == "{'name': 'API_TOKEN', 'value': '[REDACTED:token]'}"


@pytest.mark.parametrize(
    "text",
    [
        "{'name': 'DB_PASSWORD', 'value': None}",
        "{'name': 'DB_PASSWORD', 'value': ''}, {'name': 'HOME', 'value': '/srv'}",
        "{'name': 'DB_PASSWORD', 'valueFrom': {'secretKeyRef': {'name': 'db', 'key': 'main'}}}",
        "{'name': 'DB_PASSWORD', 'type': 'String'}, {'name': 'HOME', 'value': '/srv'}",
        "{'field': 'password', 'value': 'This field is required.'}",
        "{'type': 'token', 'value': 'identifier'}",
        "{'name': 'token_count', 'value': 'abc12345'}",
        "('password', 'value', 'user')",
        "- name: DB_PASSWORD\n  value: $(DB_PASSWORD)\n",
        "- name: DB_PASSWORD\n  value: {{ .Values.password1 }}\n",
        "- name: DB_PASSWORD\n  value: !Ref Password1\n",
        '- name: DB_PASSWORD\n  value: ""\n',
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: db1main\n",
        "no such password\n  value: abc12345\n",
        "- name: token\n  value: identifier\n",
    ],
)
def test_what_is_no_pair_with_a_secret_stays(text: str) -> None:
    """Empty values, references, templates, and fields of two objects."""
    assert REDACTOR.redact(text) == text
