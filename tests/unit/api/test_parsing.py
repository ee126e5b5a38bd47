"""Values as endpoints read them: what is refused, and that nothing of it is a 500.

Errors to HTTP: one table, JSON always, and None for what nobody expected.
"""

from contextlib import suppress
from io import BytesIO

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
from hypothesis import given
from hypothesis import strategies as st
from redis.exceptions import RedisError
from rest_framework import exceptions
from rest_framework.exceptions import ParseError

from infra.api import errors
from infra.api.answers import answer_error
from infra.api.errors import InvalidRequest
from infra.api.parsing import MOST_DEPTH, JsonParser, clean_text, read_flag, read_limit
from infra.api.rendering import add_trusted_headers, json_response

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=3,
)


def parse(body):
    return JsonParser().parse(BytesIO(body))


def test_object_is_parsed():
    assert parse('{"status": "grüß\\u0000"}'.encode()) == {"status": "grüß\x00"}


def test_empty_body_is_an_empty_object():
    assert parse(b"") == {}


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"1",
        b"null",
        b'"text"',
        b"{",
        b"{'a': 1}",
        b'{"a": NaN}',
        b'{"a": "\\ud800"}',
        b'{"a": "\xff"}',
        b"\x00",
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    ],
)
def test_everything_else_is_a_parse_error(body):
    with pytest.raises(ParseError):
        parse(body)


def deep(levels: int, opens: str = '{"a":', closes: str = "}") -> bytes:
    return (opens * levels + "1" + closes * levels).encode()


def test_depth_of_a_body_is_bounded_and_not_by_the_interpreter():
    assert parse(deep(MOST_DEPTH))
    assert parse(b'{"a":%b}' % deep(MOST_DEPTH - 1, "[", "]"))
    for levels in (MOST_DEPTH + 1, 900, 5_000, 100_000):
        for body in (deep(levels), b'{"b":[],"a":%b}' % deep(levels - 1, "[", "]")):
            with pytest.raises(ParseError, match="nested more than 32 levels deep"):
                parse(body)


@given(st.binary(max_size=40))
def test_no_bytes_raise_anything_but_a_parse_error(body):
    with suppress(ParseError):
        assert isinstance(parse(body), dict)


@pytest.mark.parametrize("value", ["a\x00b", "\ud800", "a\udfff", None, 1, b"bytes", [], {}])
def test_text_that_cannot_be_stored_is_refused(value):
    with pytest.raises(InvalidRequest):
        clean_text(value, "status")


@pytest.mark.parametrize("value", ["", "plain", "\U0001f701\u200d", "\x01"])
def test_text_that_can_be_stored_is_itself(value):
    assert clean_text(value, "status") == value


@given(ANYTHING)
def test_text_is_text_or_refused(value):
    with suppress(InvalidRequest):
        clean_text(value, "status").encode()


@pytest.mark.parametrize(
    ("value", "read"),
    [(None, 20), ("1", 1), ("40", 40), ("41", 40), ("999999999", 40), ("0", 1), (7, 7), ("007", 7)],
)
def test_limit_is_held_between_one_and_most(value, read):
    assert read_limit(value, default=20, most=40) == read


@pytest.mark.parametrize(
    "value", ["", "-1", "+1", "1.5", "ten", "٣", "²", "9" * 10, "1\x00", True, [], {}, 1.5, 2**64]
)
def test_limit_that_is_no_number_is_refused(value):
    with pytest.raises(InvalidRequest):
        read_limit(value, default=20, most=40)


@given(ANYTHING)
def test_limit_is_in_bounds_or_refused(value):
    with suppress(InvalidRequest):
        assert 1 <= read_limit(value, default=20, most=40) <= 40


@pytest.mark.parametrize("value", [False, "0", "f", "F", "false", "FALSE", "off", "no", "", 0])
def test_flag_false(value):
    assert read_flag({"a": value}, "a", default=True) is False


@pytest.mark.parametrize("value", [True, "1", "t", "true", "on", "YES", 1])
def test_flag_true(value):
    assert read_flag({"a": value}, "a", default=False) is True


@pytest.mark.parametrize("value", ["anything", " true", 2, 1.0, [], {}])
def test_flag_that_is_no_boolean_is_refused(value):
    with pytest.raises(InvalidRequest, match="a must be true or false"):
        read_flag({"a": value}, "a")


@pytest.mark.parametrize("default", [True, False])
def test_flag_that_is_not_sent_is_the_default(default):
    assert read_flag({"a": None}, "a", default) is default
    assert read_flag({}, "a", default) is default


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
