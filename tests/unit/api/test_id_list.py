"""The list of ids in a query is what Django reads of it, also where Django does not parse it."""

import io
from unittest.mock import patch

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from infra.api import request as module
from infra.api.request import ApiRequest

NAMES = ("id[]", "id", "id%5B%5D", "id%5b%5d", "id[", "ID[]", "max_id", "")
VALUES = ("1", "007", "12345678901", "1234567890", "0", "", "-1", "%31", "1+2", "٣", "x", "1=2")
pairs = st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES))
queries = st.lists(pairs, max_size=5).map(lambda some: "&".join("=".join(pair) for pair in some))


def asked(query: str, **variables: str) -> ApiRequest:
    environ = {"REQUEST_METHOD": "GET", "QUERY_STRING": query, "wsgi.input": io.BytesIO()}
    return ApiRequest(WSGIRequest(environ | variables), [])


def expected(query: str) -> list[str]:
    parsed = QueryDict(query)
    return parsed.getlist("id[]") or parsed.getlist("id")


@given(queries)
def test_as_django_reads_it(query: str) -> None:
    latin = query.encode().decode("latin-1")  # as WSGI has it
    assert list(asked(latin).id_list) == expected(query)


@pytest.mark.parametrize("name", ["id[]", "id", "id%5B%5D"])
@pytest.mark.parametrize("count", [1, 20, 100, 101])
def test_lists_of_ids(name: str, count: int) -> None:
    query = "&".join(f"{name}={n}" for n in range(count))
    assert list(asked(query).id_list) == [str(n) for n in range(count)]


def test_twenty_ids_are_not_parsed_by_django() -> None:
    with patch.object(module, "QueryDict", side_effect=AssertionError):
        request = asked("&".join(f"id[]={n}" for n in range(20)))
        assert len(request.id_list) == 20
    assert "GET" not in vars(request._request), "which Django keeps once it is parsed"


def test_a_query_in_another_encoding_is_djangos() -> None:
    request = asked("id[]=1", CONTENT_TYPE="text/plain; charset=utf-16")
    assert list(request.id_list) == list(request.query_params.getlist("id[]")) == []
