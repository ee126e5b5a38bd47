"""A path of the API with a slash at its end has the same answer, also on the short path."""

import pytest
from django.core.wsgi import get_wsgi_application
from django.test import Client
from django.urls import get_resolver

from config import urls
from infra.api.endpoint import Endpoint
from tests.callers import Caller
from tests.integration.config.test_short_path import ask
from tests.reads import CLOCK, World, all_reads
from tests.world import drain_all, make_account, publish
from web.body_limits import UPLOAD_PATHS, is_upload
from web.short_path import ShortPath

WRITES = ("POST", "PUT", "PATCH", "DELETE")


def write_routes() -> list[tuple[str, str]]:
    """Method and path of each write, with the same number in all places of ids."""
    found = []
    for pattern in get_resolver().url_patterns:
        view = getattr(pattern.callback, "view_class", None) if pattern.callback else None
        if view is not None and issubclass(view, Endpoint):
            path = "/".join(
                "1" if "<" in part else part for part in str(pattern.pattern).split("/")
            )
            found += [(m, f"/{path}") for m in WRITES if hasattr(view, m.lower())]
    return found


def test_every_read_is_the_same_with_a_slash(world: None) -> None:
    me = make_account("ann")
    post = publish(me).public
    drain_all()
    caller = Caller(me, "read write follow push profile")
    reads = {one.template: one for one in all_reads(World({me: "ann"}, [post])) if not one.body}
    assert len(reads) > 50
    for read in reads.values():
        path, mark, query = read.path.partition("?")
        both = [caller.get(one) for one in (read.path, f"{path}/{mark}{query}")]
        plain, slashed = ((a.status_code, CLOCK.sub(b"", a.content), a.get("Link")) for a in both)
        assert slashed == plain, read.template


def test_every_write_is_the_same_with_a_slash(world: None, client: Client) -> None:
    routes, statuses = write_routes(), set()
    assert len(routes) > 70
    for method, path in routes:
        plain, slashed = (client.generic(method, one) for one in (path, f"{path}/"))
        assert (slashed.status_code, slashed.content) == (plain.status_code, plain.content), path
        statuses.add(plain.status_code)
    assert statuses <= {400, 401, 422}, "no redirect, and no 404"
    assert all(is_upload(f"{path}/") for path in UPLOAD_PATHS if path.startswith("/api/"))


@pytest.mark.parametrize("path", ["/api/v1/timelines/home", "/api/v1/instance"])
def test_the_short_path_finds_it_too(world: None, path: str) -> None:
    short = ShortPath(get_wsgi_application(), urls.urlpatterns)
    assert short.find({"REQUEST_METHOD": "GET", "PATH_INFO": f"{path}/"}) is not None
    assert short.is_quick(f"{path}/") == short.is_quick(path)
    assert ask(short, f"{path}/").status == ask(short, path).status
    assert short.find({"REQUEST_METHOD": "GET", "PATH_INFO": f"{path}//"}) is None


def test_pages_keep_their_slash(world: None, client: Client) -> None:
    assert client.get("/search").status_code == 200
    assert client.get("/search/").status_code == 404


def test_a_block_of_a_server_is_refused_and_its_end_does_nothing(world: None) -> None:
    me, path = Caller(make_account()), "/api/v1/domain_blocks"
    assert (me.get(path).json(), me.delete(f"{path}?domain=a.example").json()) == ([], {})
    assert me.post(path, {"domain": "a.example"}).status_code == 403
