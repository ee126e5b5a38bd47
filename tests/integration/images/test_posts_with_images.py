"""Images of posts: published, listed, edited and deleted with them."""

import pytest

from accounts.images.models import StoredImage
from infra.sharding.shards import all_aliases
from tests.callers import Caller, ids_of
from tests.integration.images.uploading import (
    STATUSES,
    TOMORROW,
    files,
    path_of,
    publish,
    put,
    remove,
    sent,
)
from tests.world import drain_all, forget_memory

pytestmark = pytest.mark.usefixtures("empty_store")


def media_of(caller, status):
    return caller.get(f"{STATUSES}/{status['id']}").json()["media_attachments"]


def test_a_post_may_be_images_alone_and_shows_them_in_their_order(me, you, people):
    images = [sent(me, description=f"number {n}", focus=f"0.{n},0") for n in range(4)][::-1]
    status = publish(me, images, sensitive=True)
    assert status["media_attachments"] == images
    assert status["content"] == ""
    for reader in (me, you):
        assert media_of(reader, status) == images
    forget_memory()
    drain_all()
    assert media_of(you, status) == images
    author = you.get(f"/api/v1/accounts/{people[0]}/statuses").json()
    assert author[0]["media_attachments"] == images
    assert remove(TOMORROW) == (0, 0), "images in use stay"


def test_forms_name_images_too(me):
    images = [sent(me), sent(me)]
    form = {"status": "hello", "media_ids[]": [image["id"] for image in images]}
    assert me.client.post(STATUSES, form).json()["media_attachments"] == images


def test_only_own_images_without_a_post_are_taken(me, you):
    taken, others, five = sent(me), sent(you), [sent(me) for _ in range(5)]
    publish(me, [taken])
    for ids in (
        [taken["id"]],
        [others["id"]],
        [five[0]["id"], others["id"]],
        ["1"],
        ["x"],
        [str(2**63)],
        [image["id"] for image in five],
    ):
        answer = me.post(STATUSES, {"status": "hello", "media_ids": ids})
        assert answer.status_code == 422, ids
        assert answer.json()["error"].startswith("Validation failed")
    assert me.get(f"/api/v1/media/{taken['id']}").status_code == 404
    assert me.delete(f"/api/v1/media/{taken['id']}").status_code == 422
    publish(me, five[:1])
    assert you.get(f"/api/v1/media/{others['id']}").status_code == 200
    for nothing in ([], None, ""):
        assert me.post(STATUSES, {"status": "", "media_ids": nothing}).status_code == 422
        assert me.post(STATUSES, {"status": "hello", "media_ids": nothing}).status_code == 200


def test_a_repeated_key_returns_the_first_post_with_its_images(me):
    image = sent(me)
    body = {"status": "once", "media_ids": [image["id"]]}
    first = me.post(STATUSES, body, **{"Idempotency-Key": "k"})
    again = me.post(STATUSES, body, **{"Idempotency-Key": "k"})
    assert first.json()["id"] == again.json()["id"]
    assert again.json()["media_attachments"] == [image]


def test_a_removed_image_is_taken_by_no_post(me, monkeypatch):
    image = sent(me)
    found = []

    def load_and_remove(*arguments):
        found.extend(load(*arguments))
        assert remove(TOMORROW) == (1, 0)
        return found

    from posts.api.views import statuses  # noqa: PLC0415 - has models

    load = statuses.load_attachments
    monkeypatch.setattr(statuses, "load_attachments", load_and_remove)
    answer = me.post(STATUSES, {"status": "late", "media_ids": [image["id"]]})
    assert (answer.status_code, len(found)) == (422, 1)
    assert "not available" in answer.json()["error"]


def test_an_edit_may_send_again_what_each_image_is(me):
    """As official applications send it with each edit of a post with images."""
    image = sent(me, description="The quay", focus="0.5,-0.5")
    post = publish(me, [image], "one")
    where, ids = f"{STATUSES}/{post['id']}", [image["id"]]
    for text, more in (
        ("two", {"description": "The quay"}),
        ("three", {"description": "The quay", "focus": "0.5,-0.5"}),
        ("four", {"description": None}),
    ):
        attributes = [{"id": image["id"], **more}]
        body = {"status": text, "media_ids": ids, "media_attributes": attributes}
        edited = put(me, where, **body)
        assert edited.status_code == 200, edited.content
        assert edited.json()["content"] == f"<p>{text}</p>"
        assert edited.json()["media_attachments"][0]["description"] == "The quay"
    for other in ({"description": "x" * 1_501}, {"focus": "up"}, {"id": "1"}, {"thumbnail": "x"}):
        attributes = [{"id": image["id"], "description": "no", **other}]
        assert put(me, where, status="five", media_attributes=attributes).status_code == 422, other
    shown = me.get(where).json()
    assert (shown["content"], shown["media_attachments"][0]["description"]) == (
        "<p>four</p>", "The quay",
    )  # fmt: skip


def test_an_edit_changes_what_images_say(me):
    first, second = sent(me, description="The quay", focus="0.5,-0.5"), sent(me)
    where = f"{STATUSES}/{publish(me, [first, second], 'one')['id']}"
    wish = [{"id": second["id"], "description": "A gull"}, {"id": first["id"], "focus": "-1,1"}]
    changed = put(me, where, status="one", media_attributes=wish).json()
    images = changed["media_attachments"]
    assert [image["id"] for image in images] == [first["id"], second["id"]]
    assert [image["description"] for image in images] == ["The quay", "A gull"]
    assert images[0]["meta"]["focus"] == {"x": -1.0, "y": 1.0}
    assert changed["edited_at"] is not None
    again = put(me, where, status="one", media_attributes=wish).json()
    assert again == changed, "an edit that changes nothing is none"
    versions = me.get(f"{where}/history").json()
    told = [[image["description"] for image in one["media_attachments"]] for one in versions]
    assert told == [["The quay", None], ["The quay", "A gull"]]
    new = sent(me, description="old")
    body = {"media_ids": [new["id"]], "media_attributes": [{"id": new["id"], "description": ""}]}
    assert put(me, where, status="one", **body).json()["media_attachments"][0]["description"] in (
        "", None,
    )  # fmt: skip
    taken = put(me, where, status="two").json()
    assert [image["id"] for image in taken["media_attachments"]] == [new["id"]]
    assert taken["media_attachments"][0]["description"] in ("", None), "the image has it, too"


def test_an_edit_keeps_changes_and_removes_images(me, you):
    first, second, third = sent(me), sent(me), sent(me)
    status = publish(me, [first, second], "hello")
    where = f"{STATUSES}/{status['id']}"
    assert put(me, where, status="new text").json()["media_attachments"] == [first, second]
    ids = [third["id"], first["id"]]
    assert put(me, where, status="", media_ids=ids).json()["media_attachments"] == [third, first]
    assert media_of(you, status) == [third, first]
    history = you.get(f"{where}/history").json()
    assert [one["media_attachments"] for one in history] == [
        [first, second],
        [first, second],
        [third, first],
    ]
    assert put(me, where, status="text", media_ids=[]).json()["media_attachments"] == []
    assert put(me, where, status="", media_ids=[]).status_code == 422
    assert put(me, where, status="x", media_ids=[sent(you)["id"]]).status_code == 422


def test_deleting_a_post_deletes_its_files(me):
    status = publish(me, [sent(me), sent(me)])
    kept = publish(me, [sent(me)])
    path = f"{STATUSES}/{status['id']}?delete_media=true"
    assert me.delete(path).status_code == 200
    drain_all()
    assert remove() == (0, 0), "they went with the change"
    assert len(files()) == 1
    assert len(media_of(me, kept)) == 1
    assert sum(StoredImage.objects.on(alias).count() for alias in all_aliases()[1:]) == 1


def test_deleted_post_is_written_again_with_its_images(me, client):
    first, second = sent(me), sent(me)
    status = publish(me, [first, second])
    sent_addresses = [path_of(image["url"]) for image in (first, second)]
    gone = me.delete(f"{STATUSES}/{status['id']}").json()
    addresses = [path_of(image["url"]) for image in gone["media_attachments"]]
    assert [client.get(address).status_code for address in sent_addresses + addresses] == [
        *(404, 404, 200, 200)
    ], "its images are at other addresses"
    first, second = gone["media_attachments"]
    again = publish(me, [first])
    drain_all()
    assert remove() == (0, 0)
    assert media_of(me, again) == [first]
    assert me.get(f"/api/v1/media/{second['id']}").status_code == 200
    assert me.delete(f"{STATUSES}/{again['id']}?delete_media=perhaps").status_code == 422


def test_only_media_leaves_the_other_posts_out(me, people):
    shown = []
    for number in range(5):
        me.post(STATUSES, {"status": f"text {number}"})
        shown.insert(0, publish(me, [sent(me)])["id"])
    drain_all()
    path = f"/api/v1/accounts/{people[0]}/statuses"
    assert ids_of(me.get(path, {"only_media": "true"})) == shown
    page = me.get(path, {"only_media": "1", "limit": 2, "max_id": shown[0]})
    assert ids_of(page) == shown[1:3]
    assert ids_of(me.get(path, {"only_media": "1", "limit": 2, "min_id": shown[4]})) == shown[2:4]
    assert ids_of(Caller(people[1]).get("/api/v1/timelines/public", {"only_media": "1"})) == shown
    assert me.get("/api/v1/accounts/999999/statuses", {"only_media": "1"}).status_code == 404
