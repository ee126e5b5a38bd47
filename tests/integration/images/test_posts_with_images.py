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


def test_a_post_may_be_images_alone_and_shows_them_in_their_order(ann, bob, people):
    images = [sent(ann, description=f"number {n}", focus=f"0.{n},0") for n in range(4)][::-1]
    status = publish(ann, images, sensitive=True)
    assert status["media_attachments"] == images
    assert status["content"] == ""
    for reader in (ann, bob):
        assert media_of(reader, status) == images
    forget_memory()
    drain_all()
    assert media_of(bob, status) == images
    author = bob.get(f"/api/v1/accounts/{people[0]}/statuses").json()
    assert author[0]["media_attachments"] == images
    assert remove(TOMORROW) == (0, 0), "images in use stay"


def test_forms_name_images_too(ann):
    images = [sent(ann), sent(ann)]
    form = {"status": "hello", "media_ids[]": [image["id"] for image in images]}
    assert ann.client.post(STATUSES, form).json()["media_attachments"] == images


def test_only_own_images_without_a_post_are_taken(ann, bob):
    taken, others, five = sent(ann), sent(bob), [sent(ann) for _ in range(5)]
    publish(ann, [taken])
    for ids in (
        [taken["id"]],
        [others["id"]],
        [five[0]["id"], others["id"]],
        ["1"],
        ["x"],
        [str(2**63)],
        [image["id"] for image in five],
    ):
        answer = ann.post(STATUSES, {"status": "hello", "media_ids": ids})
        assert answer.status_code == 422, ids
        assert answer.json()["error"].startswith("Validation failed")
    assert ann.get(f"/api/v1/media/{taken['id']}").status_code == 404
    assert ann.delete(f"/api/v1/media/{taken['id']}").status_code == 422
    publish(ann, five[:1])
    assert bob.get(f"/api/v1/media/{others['id']}").status_code == 200
    for nothing in ([], None, ""):
        assert ann.post(STATUSES, {"status": "", "media_ids": nothing}).status_code == 422
        assert ann.post(STATUSES, {"status": "hello", "media_ids": nothing}).status_code == 200


def test_a_repeated_key_returns_the_first_post_with_its_images(ann):
    image = sent(ann)
    body = {"status": "once", "media_ids": [image["id"]]}
    first = ann.post(STATUSES, body, **{"Idempotency-Key": "k"})
    again = ann.post(STATUSES, body, **{"Idempotency-Key": "k"})
    assert first.json()["id"] == again.json()["id"]
    assert again.json()["media_attachments"] == [image]


def test_a_removed_image_is_taken_by_no_post(ann, monkeypatch):
    image = sent(ann)
    found = []

    def load_and_remove(*arguments):
        found.extend(load(*arguments))
        assert remove(TOMORROW) == (1, 0)
        return found

    from posts.api.views import statuses  # noqa: PLC0415 - has models

    load = statuses.load_attachments
    monkeypatch.setattr(statuses, "load_attachments", load_and_remove)
    answer = ann.post(STATUSES, {"status": "late", "media_ids": [image["id"]]})
    assert (answer.status_code, len(found)) == (422, 1)
    assert "not available" in answer.json()["error"]


def test_an_edit_may_send_again_what_each_image_is(ann):
    """As official applications send it with each edit of a post with images."""
    image = sent(ann, description="The quay", focus="0.5,-0.5")
    post = publish(ann, [image], "one")
    where, ids = f"{STATUSES}/{post['id']}", [image["id"]]
    for text, more in (
        ("two", {"description": "The quay"}),
        ("three", {"description": "The quay", "focus": "0.5,-0.5"}),
        ("four", {"description": None}),
    ):
        attributes = [{"id": image["id"], **more}]
        body = {"status": text, "media_ids": ids, "media_attributes": attributes}
        edited = put(ann, where, **body)
        assert edited.status_code == 200, edited.content
        assert edited.json()["content"] == f"<p>{text}</p>"
        assert edited.json()["media_attachments"][0]["description"] == "The quay"
    for other in ({"description": "x" * 1_501}, {"focus": "up"}, {"id": "1"}, {"thumbnail": "x"}):
        attributes = [{"id": image["id"], "description": "no", **other}]
        assert put(ann, where, status="five", media_attributes=attributes).status_code == 422, other
    shown = ann.get(where).json()
    assert (shown["content"], shown["media_attachments"][0]["description"]) == (
        "<p>four</p>", "The quay",
    )  # fmt: skip


def test_an_edit_changes_what_images_say(ann):
    first, second = sent(ann, description="The quay", focus="0.5,-0.5"), sent(ann)
    where = f"{STATUSES}/{publish(ann, [first, second], 'one')['id']}"
    wish = [{"id": second["id"], "description": "A gull"}, {"id": first["id"], "focus": "-1,1"}]
    changed = put(ann, where, status="one", media_attributes=wish).json()
    images = changed["media_attachments"]
    assert [image["id"] for image in images] == [first["id"], second["id"]]
    assert [image["description"] for image in images] == ["The quay", "A gull"]
    assert images[0]["meta"]["focus"] == {"x": -1.0, "y": 1.0}
    assert changed["edited_at"] is not None
    again = put(ann, where, status="one", media_attributes=wish).json()
    assert again == changed, "an edit that changes nothing is none"
    versions = ann.get(f"{where}/history").json()
    told = [[image["description"] for image in one["media_attachments"]] for one in versions]
    assert told == [["The quay", None], ["The quay", "A gull"]]
    new = sent(ann, description="old")
    body = {"media_ids": [new["id"]], "media_attributes": [{"id": new["id"], "description": ""}]}
    assert put(ann, where, status="one", **body).json()["media_attachments"][0]["description"] in (
        "", None,
    )  # fmt: skip
    taken = put(ann, where, status="two").json()
    assert [image["id"] for image in taken["media_attachments"]] == [new["id"]]
    assert taken["media_attachments"][0]["description"] in ("", None), "the image has it, too"


def test_an_edit_keeps_changes_and_removes_images(ann, bob):
    first, second, third = sent(ann), sent(ann), sent(ann)
    status = publish(ann, [first, second], "hello")
    where = f"{STATUSES}/{status['id']}"
    assert put(ann, where, status="new text").json()["media_attachments"] == [first, second]
    ids = [third["id"], first["id"]]
    assert put(ann, where, status="", media_ids=ids).json()["media_attachments"] == [third, first]
    assert media_of(bob, status) == [third, first]
    history = bob.get(f"{where}/history").json()
    assert [one["media_attachments"] for one in history] == [
        [first, second],
        [first, second],
        [third, first],
    ]
    assert put(ann, where, status="text", media_ids=[]).json()["media_attachments"] == []
    assert put(ann, where, status="", media_ids=[]).status_code == 422
    assert put(ann, where, status="x", media_ids=[sent(bob)["id"]]).status_code == 422


def test_deleting_a_post_deletes_its_files(ann):
    status = publish(ann, [sent(ann), sent(ann)])
    kept = publish(ann, [sent(ann)])
    path = f"{STATUSES}/{status['id']}?delete_media=true"
    assert ann.delete(path).status_code == 200
    drain_all()
    assert remove() == (0, 0), "they went with the change"
    assert len(files()) == 1
    assert len(media_of(ann, kept)) == 1
    assert sum(StoredImage.objects.on(alias).count() for alias in all_aliases()[1:]) == 1


def test_deleted_post_is_written_again_with_its_images(ann, client):
    first, second = sent(ann), sent(ann)
    status = publish(ann, [first, second])
    sent_addresses = [path_of(image["url"]) for image in (first, second)]
    gone = ann.delete(f"{STATUSES}/{status['id']}").json()
    addresses = [path_of(image["url"]) for image in gone["media_attachments"]]
    assert [client.get(address).status_code for address in sent_addresses + addresses] == [
        *(404, 404, 200, 200)
    ], "its images are at other addresses"
    first, second = gone["media_attachments"]
    again = publish(ann, [first])
    drain_all()
    assert remove() == (0, 0)
    assert media_of(ann, again) == [first]
    assert ann.get(f"/api/v1/media/{second['id']}").status_code == 200
    assert ann.delete(f"{STATUSES}/{again['id']}?delete_media=perhaps").status_code == 422


def test_only_media_leaves_the_other_posts_out(ann, people):
    shown = []
    for number in range(5):
        ann.post(STATUSES, {"status": f"text {number}"})
        shown.insert(0, publish(ann, [sent(ann)])["id"])
    drain_all()
    path = f"/api/v1/accounts/{people[0]}/statuses"
    assert ids_of(ann.get(path, {"only_media": "true"})) == shown
    page = ann.get(path, {"only_media": "1", "limit": 2, "max_id": shown[0]})
    assert ids_of(page) == shown[1:3]
    assert ids_of(ann.get(path, {"only_media": "1", "limit": 2, "min_id": shown[4]})) == shown[2:4]
    assert ids_of(Caller(people[1]).get("/api/v1/timelines/public", {"only_media": "1"})) == shown
    assert ann.get("/api/v1/accounts/999999/statuses", {"only_media": "1"}).status_code == 404
