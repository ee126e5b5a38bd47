"""Account ids in text and in routes.

Base 36: every number survives the trip, and text sorts as the numbers do.

The list of ids in a query is what Django reads of it, also where Django does not parse it.

The cursor window of a request and the Link header of its answer.
"""

import io
from unittest.mock import patch

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http import QueryDict
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.request import Request

from infra.api import base36
from infra.api import request as module
from infra.api.errors import InvalidCursor
from infra.api.ids import (
    MAX_ACCOUNT_ID,
    AccountIdConverter,
    parse_account_id,
    parse_account_ids,
)
from infra.api.pages import Page, Window, link_header, page_response, read_window
from infra.api.request import ApiRequest


@given(st.integers(1, MAX_ACCOUNT_ID))
def test_round_trip(account_id):
    assert parse_account_id(str(account_id)) == account_id
    converter = AccountIdConverter()
    assert converter.to_python(converter.to_url(account_id)) == account_id


TOO_BIG = [str(MAX_ACCOUNT_ID + 1), str(2**64), "9" * 5000]
NOT_DECIMAL = ["", "0", "-1", "+1", "1.0", " 1", "1_0", "٣", "²", "\x00", "1\x00", "\ud800"]


@pytest.mark.parametrize("text", [*TOO_BIG, *NOT_DECIMAL, None, 7, [], {}, True])
def test_what_cannot_name_an_account_is_none(text):
    assert parse_account_id(text) is None


def test_route_does_not_match_what_cannot_name_an_account():
    with pytest.raises(ValueError):
        AccountIdConverter().to_python("0")


@given(st.lists(st.integers(0, 30).map(str) | st.sampled_from(["", "x", "1" * 11, "-1", "²"])))
def test_lists_have_the_ids_of_their_texts_once_and_in_order(texts):
    ids = [found for text in texts if (found := parse_account_id(text))]
    assert parse_account_ids(texts) == list(dict.fromkeys(ids))


WIDTH = 6
NUMBERS = st.integers(0, 36**WIDTH - 1)


@given(NUMBERS)
def test_round_trip_of_base36(number):
    text = base36.encode(number, WIDTH)
    assert len(text) == WIDTH
    assert base36.decode(text) == number


@given(NUMBERS, NUMBERS)
def test_text_sorts_as_numbers(one, other):
    texts = base36.encode(one, WIDTH), base36.encode(other, WIDTH)
    assert (texts[0] < texts[1]) == (one < other)


@given(st.text(max_size=8))
def test_only_what_encode_writes_is_read(text):
    try:
        number = base36.decode(text)
    except ValueError:
        return
    assert base36.encode(number, len(text)) == text


@pytest.mark.parametrize("text", ["", "A", "+1", "-1", " 1", "1 ", "1_0", "٣", "1\n", "é"])
def test_what_int_would_forgive_is_refused(text):
    with pytest.raises(ValueError):
        base36.decode(text)


@pytest.mark.parametrize("number", [-1, 36**WIDTH, 2**64])
def test_what_does_not_fit_is_refused(number):
    with pytest.raises(OverflowError):
        base36.encode(number, WIDTH)


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


URL = "http://localhost:8000/api/v1/timelines/home"


def page_of(query, older="b", newer="a"):
    request = Request(RequestFactory().get(f"/api/v1/timelines/home?{query}"))
    return page_response(request, Page([b'{"id":"a"}', b'{"id":"b"}'], older, newer))


def test_window_takes_empty_cursors_for_absent_ones():
    query = QueryDict("max_id=&since_id=5&min_id=zzz&limit=3")
    assert read_window(query, 3, width=3) == Window(3, None, "5", "zzz")


@pytest.mark.parametrize("query", ["max_id=zz", "since_id=a-z", "min_id=5&since_id=x", "max_id=٣"])
def test_a_text_that_is_no_cursor_is_refused_also_where_another_one_counts(query):
    with pytest.raises(InvalidCursor):
        read_window(QueryDict(query), 3, width=3)


def test_request_without_a_query_has_no_parameters():
    query = ApiRequest(RequestFactory().get("/api/v1/timelines/home"), []).query_params
    assert (query.get("limit"), query.get("limit", "20"), list(query.lists())) == (None, "20", [])


def test_page_is_an_array_of_the_objects_as_they_are():
    response = page_of("limit=2")
    assert response.content == b'[{"id":"a"},{"id":"b"}]'
    assert response["Content-Length"] == str(len(response.content))


def test_link_names_older_next_and_newer_prev_and_keeps_the_limit():
    assert page_of("limit=2&max_id=zzz")["Link"] == (
        f'<{URL}?limit=2&max_id=b>; rel="next", <{URL}?limit=2&min_id=a>; rel="prev"'
    )


@pytest.mark.parametrize("gone", ["max_id", "since_id", "min_id"])
def test_cursor_that_was_asked_for_is_not_carried_on(gone):
    assert "old" not in page_of(f"{gone}=old")["Link"]


def test_list_valued_parameters_are_all_kept():
    link = page_of("types[]=follow&types[]=mention&limit=2", newer=None)["Link"]
    assert link == (f'<{URL}?types%5B%5D=follow&types%5B%5D=mention&limit=2&max_id=b>; rel="next"')


def test_list_that_ends_here_has_no_next():
    assert 'rel="next"' not in page_of("", older=None)["Link"]


def test_empty_list_has_no_link_header():
    assert not page_of("", older=None, newer=None).has_header("Link")


def test_nothing_of_the_query_breaks_out_of_the_header():
    link = link_header(URL, QueryDict('q=%3E%3B rel="next"%0D%0AX: y'), "b>", None)
    assert link == f'<{URL}?q=%3E%3B+rel%3D%22next%22%0D%0AX%3A+y&max_id=b%3E>; rel="next"'


@pytest.mark.parametrize("text", ["%0d%0aSet-Cookie:%20a=b", "%c3%a9", "%00"])
def test_nothing_of_a_query_gets_into_the_header_as_it_is(text):
    link = page_of(f"x={text}&{text}=1&limit=2")["Link"]
    assert link.isascii()
    assert link.isprintable()
    assert text.lower() in link.lower().replace("+", "%20").replace("%3d", "=").replace("%3a", ":")
