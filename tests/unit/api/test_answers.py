"""Errors to HTTP: one table, JSON always, and None for what nobody expected."""

import orjson
import pytest
from django.core.exceptions import (
    DisallowedHost,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
)
from django.db import DataError, IntegrityError, InterfaceError, OperationalError
from django.http import Http404, UnreadablePostError
from django.http.response import BadHeaderError, HttpResponseBase
from redis.exceptions import RedisError
from rest_framework import exceptions

from infra.api import errors
from infra.api.answers import answer_error
from infra.api.rendering import add_trusted_headers, json_response

FAULT = errors.Fault("username", "ERR_TAKEN", "has already been taken")


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (errors.NotFound(), 404, "Record not found"),
        (errors.InvalidCursor(), 422, "Cursor is not valid for this list"),
        (errors.InvalidRequest("limit must be a number"), 422, "limit must be a number"),
        (errors.TokenInvalid(), 401, "The access token is invalid"),
        (errors.ScopeMissing("a"), 403, "This action is outside the authorized scopes: it needs a"),
        (
            errors.ValidationFailed([FAULT]),
            422,
            "Validation failed: Username has already been taken",
        ),
        (Http404("secret path"), 404, "Record not found"),
        (PermissionDenied("secret reason"), 403, "This action is not allowed"),
        (exceptions.ParseError("Not JSON"), 400, "Not JSON"),
        (exceptions.NotAuthenticated(), 401, "The access token is invalid"),
        (exceptions.ValidationError({"a": ["bad", "worse"]}), 400, "a: bad; a: worse"),
        (exceptions.UnsupportedMediaType("text/csv"), 415, None),
        (exceptions.Throttled(wait=30), 429, None),
        (RequestDataTooBig(), 413, "The request is too large"),
        (TooManyFieldsSent(), 400, "The request is malformed"),
        (DisallowedHost("evil"), 400, "The request is malformed"),
        (SuspiciousOperation("secret"), 400, "The request is malformed"),
        (UnreadablePostError(), 400, "The request is malformed"),
        (OperationalError("password=secret"), 503, "Temporarily unavailable, try again"),
        (InterfaceError("connection closed"), 503, "Temporarily unavailable, try again"),
        (RedisError("password=secret"), 503, "Temporarily unavailable, try again"),
    ],
)
def test_status_and_text(error, status, text):
    response = answer_error(error, {})
    assert response.status_code == status
    assert response["Content-Type"] == "application/json; charset=utf-8"
    body = orjson.loads(response.content)
    assert isinstance(body["error"], str)
    assert text in (None, body["error"])
    assert "secret" not in body["error"]


def test_database_out_of_reach_says_when_to_come_back():
    assert answer_error(OperationalError(), {})["Retry-After"] == "2"


def test_throttled_says_when_to_come_back():
    """The full second: half of one would be asked again too early."""
    assert answer_error(exceptions.Throttled(wait=29.2), {})["Retry-After"] == "30"


def test_missing_token_names_the_scheme():
    assert answer_error(errors.TokenInvalid(), {})["WWW-Authenticate"].startswith("Bearer")


def test_faults_are_listed_by_field():
    body = orjson.loads(answer_error(errors.ValidationFailed([FAULT]), {}).content)
    assert body["details"] == {
        "username": [{"error": "ERR_TAKEN", "description": "has already been taken"}]
    }


@pytest.mark.parametrize("error", [ValueError(), DataError(), IntegrityError(), KeyError("x")])
def test_what_nobody_expected_is_left_to_the_caller(error):
    assert answer_error(error, {}) is None


def test_headers_are_what_django_would_send_and_are_found_by_any_case():
    response = json_response(b"{}", 429, {"Retry-After": "2"})
    response["Link"] = '</a>; rel="next"'
    assert sorted(response.items()) == sorted(HttpResponseBase.items(response))
    assert (response["retry-after"], response["Content-Length"]) == ("2", "2")
    add_trusted_headers(response, {"RETRY-AFTER": "3"})
    assert [value for name, value in response.items() if name.lower() == "retry-after"] == ["3"]


def test_header_that_is_not_plain_is_looked_at_for_line_breaks():
    with pytest.raises(BadHeaderError):
        json_response(b"{}")["Link"] = "a\r\nX: b"
