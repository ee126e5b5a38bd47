"""The cursor window of a request and the Link header of its answer."""

import pytest
from django.http import QueryDict
from django.test import RequestFactory
from rest_framework.request import Request

from infra.api.errors import InvalidCursor
from infra.api.pages import Page, Window, link_header, page_response, read_window
from infra.api.request import ApiRequest

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
