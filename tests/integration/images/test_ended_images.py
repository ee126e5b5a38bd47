"""Files of images are not served when their post or their person is gone or hidden, nor by nginx.

A small server that speaks as much of S3 as the store of images needs, on this machine alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest
from django.core.files.storage import FileSystemStorage

from accounts.images.api.views import FILE_HEADERS
from accounts.types import Restriction
from config.django_settings import file_stores
from infra.jobs.types import Work
from infra.processes.free_ports import free_ports
from infra.sharding.shards import all_aliases
from moderation.actions.decide import decide_on_post
from moderation.jobs.purge_accounts import purge_accounts
from moderation.types import DecisionKind, DecisionOrigin
from posts.ids import PostId
from tests.dying import dying_at
from tests.faults.test_proxy import ask
from tests.integration.images.test_profile_pictures import edit
from tests.integration.images.uploading import STATUSES, files, path_of, publish, sent
from tests.integration.pages.browsing import Browser
from tests.nginx import REASON, find_nginx, running_proxy
from tests.pictures import picture, upload
from tests.world import drain_all, restrict


@contextmanager
def bucket() -> Iterator[tuple[str, dict[str, bytes]]]:
    """Its address, and the objects that it has."""
    objects: dict[str, bytes] = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(objects))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", objects
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler_of(objects: dict[str, bytes]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self) -> None:
            objects[self.path] = self._read_body()
            self._answer(200, b"")

        def do_GET(self) -> None:
            content = objects.get(self.path)
            missing = b"<Error><Code>NoSuchKey</Code></Error>"
            self._answer(*((404, missing) if content is None else (200, content)))

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_DELETE(self) -> None:
            objects.pop(self.path, None)
            self._answer(204, b"")

        def _read_body(self) -> bytes:
            if self.headers.get("Expect"):
                self.send_response_only(100)
                self.end_headers()
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if "aws-chunked" not in self.headers.get("Content-Encoding", ""):
                return body
            size, _, after = body.partition(b"\r\n")
            return after[: int(size.split(b";")[0], 16)]

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", '"1"')
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    return Handler


BECAUSE = DecisionOrigin(None, "not here")


@pytest.fixture
def client(request, client, tmp_path):
    """Of the folder that nginx serves, one that asks nginx."""
    if "store" not in request.fixturenames or request.node.callspec.params["store"] != "nginx":
        yield client
        return
    program = find_nginx() or pytest.skip(REASON)
    with running_proxy(program, free_ports(2), media=str(tmp_path)) as proxy:
        yield SimpleNamespace(
            get=lambda path: SimpleNamespace(status_code=ask(proxy.port, path)[0])
        )


@pytest.fixture(params=["folder", "bucket", pytest.param("nginx", marks=pytest.mark.slow)])
def store(request, settings, tmp_path, monkeypatch):
    """A store of this test alone, and how to list the names in it."""
    settings.MEDIA_DIR = str(tmp_path)
    if request.param != "bucket":
        settings.STORAGES = file_stores(str(tmp_path), bucket="", endpoint="", region="")
        yield files
        return
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with bucket() as (address, objects):
        settings.STORAGES = file_stores("", bucket="b", endpoint=address, region="here")
        yield lambda: list(objects)


def decide(status, kind):
    return decide_on_post(PostId.from_public(status["id"]), kind, BECAUSE)


def statuses_of(client, addresses):
    return {client.get(path_of(address)).status_code for address in addresses}


def in_a_page(me, people, status):
    assert Browser(people[0]).send(f"/statuses/{status['id']}/delete").status_code == 303


def purge(_ann, people, _status):
    restrict(people[0], Restriction.SUSPENDED)
    now = datetime.now(UTC)
    for _ in purge_accounts(Work(all_aliases()[1:]), now + timedelta(days=1), BECAUSE, now):
        pass


def test_shared_caches_ask_again_within_seconds_wherever_the_file_is():
    said = FILE_HEADERS["Cache-Control"]
    assert "s-maxage=10," in said
    assert f'"{said}"' in Path("deploy/nginx/tideline.conf").read_text()
    options = file_stores("", bucket="b", endpoint="", region="")["default"]["OPTIONS"]
    assert options["object_parameters"]["CacheControl"] == said


ENDS = {
    "deleted by its author": lambda me, _, status: me.delete(
        f"{STATUSES}/{status['id']}?delete_media=true"
    ),
    "deleted on the page": in_a_page,
    "deleted by a moderator": lambda _, __, status: decide(status, DecisionKind.DELETE),
    "purged": purge,
}


@pytest.mark.parametrize("name", ENDS)
def test_the_files_of_a_deleted_post_go_with_the_change(me, client, people, store, name):
    image = sent(me, content=picture("JPEG", (1_200, 800)))
    status = publish(me, [image])
    addresses = [image["url"], image["preview_url"]]
    if name == "purged":
        picture_of = edit(me, avatar=upload(picture()), header=upload(picture())).json()
        addresses += [picture_of["avatar"], picture_of["header"]]
    assert statuses_of(client, addresses) == {200}
    ENDS[name](me, people, status)
    drain_all()
    assert statuses_of(client, addresses) == {404}
    assert store() == []


HIDES = {
    "the post": (
        lambda _, status: decide(status, DecisionKind.HIDE),
        lambda _, status: decide(status, DecisionKind.SHOW),
    ),
    "the account": (
        lambda people, _: restrict(people[0], Restriction.SUSPENDED),
        lambda people, _: restrict(people[0], Restriction.NONE),
    ),
}


@pytest.mark.parametrize("name", HIDES)
def test_the_images_of_what_is_hidden_come_back_with_it(me, you, client, people, store, name):
    hide, show = HIDES[name]
    image = sent(me, content=picture("JPEG", (1_200, 800)))
    status, other = publish(me, [image]), publish(me, [sent(me)])
    mine = edit(me, avatar=upload(picture())).json()["avatar"]
    drain_all()
    names = set(store())
    for _ in range(2):
        hide(people, status)
        drain_all()
        assert statuses_of(client, [image["url"], image["preview_url"]]) == {404}
        whole = name == "the account"
        others = [mine, other["media_attachments"][0]["url"]]
        assert statuses_of(client, others) == ({404} if whole else {200})
        assert len(store()) == len(names), "moderators see them"
        show(people, status)
        drain_all()
        assert {*store()} == names
        assert statuses_of(client, [image["url"], image["preview_url"], *others]) == {200}
        assert you.get(f"{STATUSES}/{status['id']}").json()["media_attachments"] == [image]


def test_both_reasons_must_end_and_a_hidden_post_may_be_deleted(me, client, people, store):
    image = sent(me)
    status = publish(me, [image])
    decide(status, DecisionKind.HIDE)
    restrict(people[0], Restriction.SUSPENDED)
    drain_all()
    restrict(people[0], Restriction.NONE)
    drain_all()
    assert statuses_of(client, [image["url"]]) == {404}
    decide(status, DecisionKind.SHOW)
    drain_all()
    assert statuses_of(client, [image["url"]]) == {200}
    decide(status, DecisionKind.HIDE)
    drain_all()
    decide(status, DecisionKind.DELETE)
    drain_all()
    assert store() == []


def test_a_restriction_that_hides_no_one_moves_no_file(me, client, people, store):
    image = sent(me)
    publish(me, [image])
    before = store()
    restrict(people[0], Restriction.FROZEN | Restriction.LIMITED)
    drain_all()
    assert store() == before


def test_pictures_that_were_replaced_go_with_the_change(me, client, store):
    first = edit(me, avatar=upload(picture())).json()["avatar"]
    edit(me, avatar=upload(picture()))
    drain_all()
    assert statuses_of(client, [first]) == {404}
    assert len(store()) == 1


@pytest.mark.parametrize("place", ["images.files_moved", "images.files_deleted"])
@pytest.mark.parametrize("is_shown", [True, False])
@pytest.mark.usefixtures("empty_store")
def test_a_process_killed_while_files_move_is_completed(me, client, people, place, is_shown):
    image = sent(me, content=picture("JPEG", (1_200, 800)))
    status = publish(me, [image])
    decide(status, DecisionKind.HIDE)
    if place == "images.files_deleted":
        decide(status, DecisionKind.DELETE)
    with dying_at(place):
        drain_all()
    if is_shown and place == "images.files_moved":
        decide(status, DecisionKind.SHOW)
    drain_all()
    is_back = is_shown and place == "images.files_moved"
    assert statuses_of(client, [image["url"]]) == ({200} if is_back else {404})
    assert len(files()) == (0 if place == "images.files_deleted" else 2)


@pytest.mark.usefixtures("empty_store")
def test_while_the_store_is_away_the_change_waits(me, client, monkeypatch):
    image = sent(me)
    status = publish(me, [image])

    def broken(*_args, **_options):
        raise OSError("no disk")

    monkeypatch.setattr(FileSystemStorage, "delete", broken)
    gone = me.delete(f"{STATUSES}/{status['id']}")
    assert gone.status_code == 200
    monkeypatch.undo()
    drain_all()
    assert statuses_of(client, [image["url"]]) == {404}
    assert statuses_of(client, [gone.json()["media_attachments"][0]["url"]]) == {200}


def test_more_images_than_a_page_of_the_work_has_move(me, client, people, monkeypatch, store):
    monkeypatch.setattr("accounts.images.actions.place_files.PAGE_SIZE", 2)
    images = [sent(me) for _ in range(5)]
    publish(me, images[:4])
    restrict(people[0], Restriction.SUSPENDED)
    drain_all()
    assert statuses_of(client, [image["url"] for image in images]) == {404}
