"""The short path keeps parsed queries and matched paths. They are the same as Django's."""

import io

import pytest
from django.core.exceptions import TooManyFieldsSent
from django.core.handlers.wsgi import WSGIRequest
from django.http import QueryDict

from config import urls
from infra.api.get_request import parse_short
from web.short_path import Route, ShortPath, ShortRequest

NO_ROUTE = Route(None, None, None)  # type: ignore[arg-type]
QUERIES = (
    "",
    "limit=20",
    "limit=20&limit=30&max_id=7",
    "id[]=1&id%5B%5D=2&empty=",
    "q=%C3%A9t%C3%A9&colour",
    "q=été".encode().decode("latin-1"),
    "q=\xff",
    "q=" + "x" * 500,
)


@pytest.fixture(autouse=True)
def forget():
    parse_short.cache_clear()


def variables(query):
    return {"PATH_INFO": "/", "REQUEST_METHOD": "GET", "wsgi.input": io.BytesIO()} | query


def query_of(text):
    return ShortRequest(variables({"QUERY_STRING": text}), NO_ROUTE, {}).GET


@pytest.mark.parametrize("text", QUERIES)
def test_a_query_is_parsed_as_django_does(text):
    expected = WSGIRequest(variables({"QUERY_STRING": text})).GET
    for _ in range(2):
        assert list(query_of(text).lists()) == list(expected.lists())
        assert query_of(text).urlencode() == expected.urlencode()


def test_a_request_may_have_no_query():
    assert QueryDict("") == ShortRequest(variables({}), NO_ROUTE, {}).GET


def test_a_kept_query_cannot_be_changed():
    with pytest.raises(AttributeError):
        query_of("limit=20")["limit"] = "30"
    query_of("limit=20").getlist("limit").append("30")
    changed = query_of("limit=20").copy()
    changed["limit"] = "30"
    assert query_of("limit=20").getlist("limit") == ["20"]


def test_few_and_short_queries_are_kept():
    most = parse_short.cache_info().maxsize
    for number in range(most + 10):
        query_of(f"max_id={number}")
    query_of("q=" + "x" * 500)
    assert parse_short.cache_info().currsize == most
    assert parse_short.cache_info().misses == most + 10


def test_an_error_is_not_kept(settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 1
    with pytest.raises(TooManyFieldsSent):
        query_of("a=1&b=2")
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 2
    assert query_of("a=1&b=2").dict() == {"a": "1", "b": "2"}


@pytest.fixture
def short():
    return ShortPath(lambda *_: [], urls.urlpatterns)


def find(short, path):
    return short.find(variables({"PATH_INFO": path}))


def test_a_kept_path_has_the_same_route_and_arguments(short):
    for _ in range(2):
        route, arguments = find(short, "/api/v1/accounts/17/statuses")
        assert route.match.route == "api/v1/accounts/<account:account_id>/statuses"
        assert arguments == {"account_id": 17}
        assert find(short, "/api/v1/accounts/x/statuses") is None
    assert short._match_short.cache_info().hits == 2


def test_few_and_short_paths_are_kept(short):
    most = short._match_short.cache_info().maxsize
    for number in range(most + 10):
        assert find(short, f"/api/v1/accounts/{number + 1}")
    assert find(short, "/api/v1/accounts/" + "x" * 500) is None
    assert short._match_short.cache_info().currsize == most
    assert short._match_short.cache_info().misses == most + 10
