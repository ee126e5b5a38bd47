"""Avatars and headers: shown at once, replaced, deleted, and removed with the account.

The archive of an account has its images: the files, and their descriptions.
"""

import csv
import io
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit
from zipfile import ZipFile

import pytest
from django.core.management import call_command
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from accounts.images.errors import ImagesUnavailable
from accounts.images.models import StoredImage
from accounts.images.store import default_storage
from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from moderation.actions.decide_on_image import decide_on_image
from moderation.jobs import export_account
from moderation.jobs.purge_accounts import purge_accounts
from moderation.types import DecisionKind, DecisionOrigin
from moderation.verbs import ExportAccount
from tests.callers import Caller
from tests.integration.api.encodings import ENCODINGS
from tests.integration.images.uploading import STATUSES, files, path_of, publish, remove, sent
from tests.people import decide
from tests.pictures import bomb, opened, picture, transparent, upload
from tests.world import drain_all

DEFAULT = "/avatars/"
EDIT = "/api/v1/accounts/update_credentials"
pytestmark = pytest.mark.usefixtures("empty_store")


def edit(caller: Caller, **form):
    return caller.client.patch(EDIT, encode_multipart(BOUNDARY, form), MULTIPART_CONTENT)


def test_pictures_are_shown_at_once_everywhere(me, you, client, people):
    before = me.get("/api/v1/accounts/verify_credentials").json()
    assert DEFAULT in before["avatar"]
    status = me.post(STATUSES, {"status": "hello"}).json()
    form = {"avatar": upload(picture(size=(900, 600))), "header": upload(picture(size=(60, 20)))}
    answer = edit(me, display_name="Ann", **form)
    assert answer.status_code == 200, answer.content
    mine = answer.json()
    assert mine["avatar"] == mine["avatar_static"] != before["avatar"]
    assert opened(client.get(path_of(mine["avatar"])).content).size == (400, 400)
    assert opened(client.get(path_of(mine["header"])).content).size == (60, 20)
    for shown in (
        you.get(f"/api/v1/accounts/{people[0]}").json(),
        you.get(f"{STATUSES}/{status['id']}").json()["account"],
        me.get("/api/v1/accounts/verify_credentials").json(),
    ):
        assert [shown[name] for name in ("avatar", "header", "display_name")] == [
            mine["avatar"],
            mine["header"],
            "Ann",
        ]
    assert edit(me, note="text", avatar="").json()["avatar"] == mine["avatar"]


def data_url(content: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{b64encode(content).decode()}"


@pytest.mark.parametrize("encoding", ["json", "form", "multipart"])
def test_pictures_may_be_data_addresses(me, client, encoding):
    def send(**parameters):
        _, body, kind = ENCODINGS[encoding](parameters)
        return me.client.patch(EDIT, body, kind)

    before = me.get("/api/v1/accounts/verify_credentials").json()["header"]
    edited = send(avatar=data_url(picture(size=(900, 600))), display_name="Ann").json()
    assert opened(client.get(path_of(edited["avatar"])).content).size == (400, 400)
    assert (edited["display_name"], edited["header"]) == ("Ann", before)
    for wrong in (data_url(b"text"), "data:image/png;base64,@@", "data:,a", "https://a.example/b"):
        refused = send(header=wrong, display_name="Eve")
        assert (refused.status_code, bool(refused.json()["error"])) == (422, True), wrong
    after = me.get("/api/v1/accounts/verify_credentials").json()
    assert (after["header"], after["display_name"]) == (before, "Ann")


def test_a_data_address_may_be_as_large_as_a_file(me):
    content = picture(size=(400, 400)) + b"\0" * 2_000_000
    _, body, kind = ENCODINGS["json"]({"avatar": data_url(content)})
    assert me.client.patch(EDIT, body, kind).status_code == 200


def test_the_default_avatar_is_drawn_from_its_address(me, client):
    mine = me.get("/api/v1/accounts/verify_credentials").json()
    address = urlsplit(mine["avatar"]).path
    answer = client.get(address)
    letter = address.rpartition("/")[2][0]
    assert f">{letter}</text>".encode() in answer.content
    assert (answer["Content-Type"], "immutable" in answer["Cache-Control"]) == (
        "image/svg+xml",
        True,
    )
    # Always: a browser may keep an answer to a page of ours, and give it to a script of another.
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert b"&lt;</text>" in client.get("/avatars/0/%3C.svg").content
    for absent in ("/avatars/99/A.svg", "/avatars/0/AB.svg", "/avatars/x/A.svg"):
        assert client.get(absent).status_code == 404, absent


def test_a_replaced_and_a_deleted_picture_is_removed(me):
    default = me.get("/api/v1/accounts/verify_credentials").json()["avatar"]
    first = edit(me, avatar=upload(picture()), header=upload(picture())).json()
    second = edit(me, avatar=upload(picture())).json()
    assert second["avatar"] != first["avatar"]
    assert second["header"] == first["header"]
    assert remove() == (1, 0)
    assert me.delete("/api/v1/profile/avatar").json()["avatar"] == default
    assert me.delete("/api/v1/profile/avatar").status_code == 200
    assert me.delete("/api/v1/profile/header").json()["header"].endswith("header.svg")
    assert remove() == (2, 0)
    assert files() == []


@pytest.mark.parametrize("content", [b"hello", bomb()])
def test_a_bad_picture_changes_nothing(me, content):
    answer = edit(me, display_name="new", avatar=upload(content))
    assert answer.status_code == 422
    assert me.get("/api/v1/accounts/verify_credentials").json()["display_name"] == ""


def test_a_bad_text_stores_no_picture(me):
    assert edit(me, note="x" * 501, avatar=upload(picture())).status_code == 422
    assert files() == []


def test_purging_an_account_removes_all_its_images(me, people):
    edit(me, avatar=upload(picture()), header=upload(picture()))
    publish(me, [sent(me), sent(me)])
    sent(me)
    drain_all()
    decide(people[0], DecisionKind.SUSPEND)
    drain_all()
    now = datetime.now(UTC)
    work = Work([shard_of(people[0])], account_id=people[0])
    list(purge_accounts(work, now + timedelta(1), DecisionOrigin(None, "old"), now))
    drain_all()
    assert remove() == (0, 0), "they went with the account"
    assert files() == []
    assert sum(StoredImage.objects.on(alias).count() for alias in all_aliases()[1:]) == 0


def test_the_limits_are_told_to_clients(me):
    told = me.get("/api/v2/instance").json()["configuration"]
    assert told["statuses"]["max_media_attachments"] == 4
    assert told["media_attachments"]["image_matrix_limit"] == 33_177_600
    assert "image/webp" in told["media_attachments"]["supported_mime_types"]


def export(account_id, path):
    call_command(ExportAccount(), account=account_id, to=path, verbosity=0)
    return ZipFile(path)


def test_all_images_are_in_the_archive_but_hidden_ones(me, you, people, tmp_path, monkeypatch):
    monkeypatch.setattr(export_account, "_PAGE", 2)
    edit(me, avatar=upload(picture(size=(500, 500))))
    large = sent(me, content=picture("JPEG", (1_200, 800)), description='Sea, and "sun"')
    glass, hidden = sent(me, content=transparent()), sent(me, description="gone")
    status = publish(me, [large, glass, hidden])
    sent(you)
    decide_on_image(
        people[0], int(hidden["id"]), DecisionKind.HIDE, DecisionOrigin(None, "not here")
    )
    archive = export(people[0], tmp_path / "ann.zip")
    text = archive.read("images.csv").decode()
    rows = [row[:4] for row in csv.reader(io.StringIO(text))]
    names = [f"images/{large['id']}.jpg", f"images/{glass['id']}.webp"]
    assert rows[1:4] == [
        ["", "post", status["id"], "gone"],
        [names[1], "post", status["id"], ""],
        [names[0], "post", status["id"], 'Sea, and "sun"'],
    ]
    assert rows[4][1:] == ["avatar", "", ""]
    assert opened(archive.read(names[0])).size == (1_200, 800)
    assert opened(archive.read(rows[4][0])).size == (400, 400)
    assert len([one for one in archive.namelist() if one.startswith("images/")]) == 3


def test_without_the_store_there_is_no_archive(me, people, tmp_path, monkeypatch):
    def broken(*_args, **_options):
        raise OSError("no disk")

    sent(me)
    monkeypatch.setattr(type(default_storage._wrapped), "open", broken)
    with pytest.raises(ImagesUnavailable):
        export(people[0], tmp_path / "ann.zip")
    assert not (tmp_path / "ann.zip").exists()
