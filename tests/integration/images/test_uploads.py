"""Uploads over HTTP: what is answered, who may see it, and what becomes of unused ones."""

import pytest
from django.core.files.storage import FileSystemStorage

from accounts.images import store
from accounts.images.actions import store_image as storing
from accounts.images.models import StoredImage
from infra.sharding.shards import all_aliases
from tests.dying import dying_at
from tests.integration.images.test_profile_pictures import edit
from tests.integration.images.uploading import (
    MEDIA,
    TOMORROW,
    files,
    path_of,
    put,
    remove,
    send,
    sent,
)
from tests.pictures import bomb, picture, upload, with_metadata


def test_an_upload_is_answered_as_an_attachment(me, empty_store):
    image = sent(me, content=picture("JPEG", (1_200, 800)), description="Sea", focus="0.5,-2")
    assert image["type"] == "image"
    assert image["description"] == "Sea"
    assert image["meta"] == {
        "original": {"width": 1200, "height": 800, "size": "1200x800", "aspect": 1.5},
        "small": {"width": 587, "height": 391, "size": "587x391", "aspect": 587 / 391},
        "focus": {"x": 0.5, "y": -1.0},
    }
    assert len(image["blurhash"]) == 28
    assert image["url"] != image["preview_url"]
    assert me.get(f"/api/v1/media/{image['id']}").json() == image


def test_the_files_are_served_as_images_and_as_nothing_else(me, client, empty_store):
    image = sent(me, content=with_metadata())
    answer = client.get(path_of(image["url"]))
    assert answer.status_code == 200
    assert answer["Content-Type"] == "image/jpeg"
    assert "immutable" in answer["Cache-Control"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert not answer.cookies
    assert client.post(path_of(image["url"])).status_code == 405
    owner, image_id, token, name = path_of(image["url"]).removeprefix("/media/").split("/")
    for guess in (
        f"{owner}/{image_id}/{'0' * 32}/{name}",
        f"{owner}/{image_id}/{token}",
        f"{owner}/{image_id}/{token}/../{token}/{name}",
        f"{owner}/{image_id}/{token}/original.svg",
        "../../etc/passwd",
        "",
    ):
        assert client.get(f"/media/{guess}").status_code in (302, 404), guess


def test_only_the_owner_reads_describes_and_deletes_an_upload(me, you, empty_store):
    where = f"/api/v1/media/{sent(me)['id']}"
    for status in (you.get(where), put(you, where, description="x"), you.delete(where)):
        assert status.status_code == 404
    assert put(me, where, description="Red and blue").json()["description"] == "Red and blue"
    assert put(me, where, focus="1,1").json()["description"] == "Red and blue"
    assert me.delete(where).status_code == 200
    assert me.get(where).status_code == 404
    assert files() == []
    assert files() == []


def test_bad_uploads_are_refused_with_the_reason(me, empty_store):
    for form, text in [
        ({}, "must be a file"),
        ({"file": "text"}, "must be a file"),
        ({"file": upload(b"hello")}, "File must be one of"),
        ({"file": upload(b"")}, "File must be one of"),
        ({"file": upload(bomb())}, "too many pixels"),
        ({"file": upload(bomb(12_000))}, "12000x12000"),
        ({"file": upload(picture()), "description": "x" * 1_501}, "too long"),
        ({"file": upload(picture()), "focus": "nan,1"}, "focus must be"),
        ({"file": upload(picture()), "focus": "1"}, "focus must be"),
    ]:
        answer = me.client.post(MEDIA, form)
        assert answer.status_code == 422, answer.content
        assert text in answer.json()["error"], (form, text)
        assert files() == [], (form, text)


def test_refused_images_use_up_what_an_account_may_upload(me, you, empty_store, settings):
    settings.UPLOADS_PER_ACCOUNT = 3
    assert [send(me, b"hello").status_code for _ in range(2)] == [422, 422]
    assert edit(me, avatar=upload(b"hello")).status_code == 422
    for answer in (send(me), edit(me, header=upload(picture()))):
        assert answer.status_code == 429
        assert 0 < int(answer["Retry-After"]) <= 3_600
    assert edit(me, display_name="Ann").status_code == 200
    assert send(you).status_code == 200


def test_the_limits_of_size_and_number_hold(me, empty_store, settings, monkeypatch):
    settings.MEDIA_MAX_BYTES = 100
    assert "less than 100 bytes" in send(me).json()["error"]
    settings.MEDIA_MAX_BYTES = 100_000
    too_large = upload(b"x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 100_001))
    assert me.client.post(MEDIA, {"file": too_large}).status_code == 413
    assert me.post("/api/v1/statuses", {"status": "x" * 1_600_000}).status_code == 413
    monkeypatch.setattr(storing, "MOST_UNUSED", 2)
    assert [send(me).status_code for _ in range(3)] == [200, 200, 429]


def test_an_upload_that_no_post_takes_is_removed_after_a_day(me, empty_store):
    image = sent(me)
    assert remove() == (0, 0)
    assert len(files()) == 1
    assert remove(TOMORROW) == (1, 0)
    assert (files(), remove(TOMORROW)) == ([], (0, 0))
    assert me.get(f"/api/v1/media/{image['id']}").status_code == 404


def broken(*_args, **_options):
    raise OSError("no space left")


@pytest.mark.parametrize("is_slow", [False, True])
def test_a_store_that_is_away_is_503_soon_and_leaves_nothing(
    me, empty_store, settings, monkeypatch, is_slow
):
    settings.MEDIA_STORE_MS = 100
    gate = store.threading.Event()
    monkeypatch.setattr(
        FileSystemStorage, "save", (lambda *_: gate.wait(30)) if is_slow else broken
    )
    answers = [send(me) for _ in range(store.THREADS + 1 if is_slow else 1)]
    gate.set()
    assert {answer.status_code for answer in answers} == {503}
    assert answers[-1]["Retry-After"]
    monkeypatch.undo()
    store._pool().submit(int).result()
    removed, failed = remove(TOMORROW)
    assert (removed, failed) == (len(answers), 0)


def test_while_the_store_is_away_no_row_is_deleted(me, empty_store, monkeypatch):
    sent(me)
    monkeypatch.setattr(FileSystemStorage, "delete", broken)
    assert remove(TOMORROW) == (0, 1)
    monkeypatch.undo()
    assert remove(TOMORROW) == (1, 0)
    assert files() == []


@pytest.mark.parametrize("place", ["images.before_files", "images.before_answer"])
def test_a_process_killed_between_row_and_answer_leaves_only_what_is_removed(
    me, empty_store, place
):
    with dying_at(place):
        send(me)
    assert len(files()) == (place == "images.before_answer")
    assert remove(TOMORROW) == (1, 0)
    assert files() == []


def test_a_process_killed_between_files_and_rows_is_repeated(me, empty_store):
    sent(me)
    with dying_at("images.files_deleted"):
        remove(TOMORROW)
    assert files() == []
    assert sum(StoredImage.objects.on(alias).count() for alias in all_aliases()[1:]) == 1
    assert remove(TOMORROW) == (1, 0)
