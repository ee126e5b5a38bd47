"""Moderators hide images: no reader gets them by any page or address until they show them."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import Permission
from django.core.files.storage import FileSystemStorage
from django.test import Client

from accounts.images.errors import ImageNotFound
from accounts.images.file_names import url_of_file
from accounts.images.models import StoredImage
from accounts.images.queries.image_lists import list_images
from accounts.models import User
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from moderation.actions.appeals import accept_appeal, file_appeal
from moderation.actions.decide_on_image import decide_on_image
from moderation.models import Decision, Report
from moderation.types import DecisionKind, DecisionOrigin
from posts.ids import PostId
from tests.budgets import count_calls
from tests.callers import sign_in, token_of
from tests.dying import dying_at
from tests.integration.images.test_profile_pictures import edit
from tests.integration.images.uploading import (
    STATUSES,
    files,
    path_of,
    publish,
    put,
    remove,
    sent,
)
from tests.pictures import picture, upload
from tests.world import drain_all, make_account

BECAUSE = DecisionOrigin(None, "not here")
# Other images of the page are those of the admin.
IMAGE = 'height="120"'
PAGE = "/admin/moderation/images/"
HIDE, SHOW = DecisionKind.HIDE, DecisionKind.SHOW
pytestmark = pytest.mark.usefixtures("empty_store")


def decide(people, image, kind=HIDE):
    return decide_on_image(people[0], int(image["id"]), kind, BECAUSE)


def media(caller, status):
    answer = caller.get(f"{STATUSES}/{status['id']}")
    assert answer.status_code == 200
    return answer.json()["media_attachments"]


def is_served(client, image):
    addresses = {path_of(image["url"]), path_of(image["preview_url"])}
    statuses = {client.get(address).status_code for address in addresses}
    assert len(statuses) == 1
    return statuses == {200}


def everywhere(caller, people, status):
    """The images of the post as each page shows them."""
    where = f"{STATUSES}/{status['id']}"
    history = caller.get(f"{where}/history").json()
    pages = [f"/api/v1/accounts/{people[0]}/statuses", "/api/v1/timelines/public"]
    shown = [caller.get(page).json()[0]["media_attachments"] for page in pages]
    return [media(caller, status), *shown, *(one["media_attachments"] for one in history)]


def test_a_hidden_image_is_on_no_page_and_at_no_address_until_it_is_shown_again(
    me, you, client, people
):
    large = sent(me, content=picture("JPEG", (1_200, 800)), description="Sea")
    other = sent(me)
    status = publish(me, [large, other], "look")
    put(me, f"{STATUSES}/{status['id']}", status="look again", media_ids=[large["id"], other["id"]])
    drain_all()
    for caller in (me, you):
        assert everywhere(caller, people, status) == [[large, other]] * 5
    assert decide(people, large) is not None
    assert decide(people, large) is None, "it is hidden already"
    for caller in (me, you):
        assert everywhere(caller, people, status) == [[other]] * 5
    assert not is_served(client, large)
    assert is_served(client, other)
    assert len(files()) == 3, "the files are at another name"
    drain_all()
    assert decide(people, large, SHOW) is not None
    shown = media(you, status)[0]
    assert {**shown, "url": "", "preview_url": ""} == {**large, "url": "", "preview_url": ""}
    assert everywhere(you, people, status) == [[shown, other]] * 5
    assert is_served(client, shown)
    assert not is_served(client, large), "the old address stays dead"
    assert decide(people, large) is not None
    assert (media(you, status), is_served(client, shown)) == ([other], False)


@pytest.mark.parametrize("name", ["avatar", "header"])
def test_a_hidden_picture_becomes_the_default_one(me, you, client, people, name):
    before = me.get("/api/v1/accounts/verify_credentials").json()[name]
    mine = edit(me, **{name: upload(picture())}).json()[name]
    status = me.post(STATUSES, {"status": "hello"}).json()
    image = {"id": path_of(mine).split("/")[3]}

    def seen():
        pages = [f"/api/v1/accounts/{people[0]}", "/api/v1/accounts/verify_credentials"]
        accounts = [me.get(page).json() for page in pages]
        accounts.append(you.get(f"{STATUSES}/{status['id']}").json()["account"])
        return {account[name] for account in accounts}

    assert seen() == {mine}
    decide(people, image)
    assert seen() == {before}
    assert client.get(path_of(mine)).status_code == 404
    decide(people, image, SHOW)
    (shown,) = seen()
    assert shown not in (mine, before)
    assert client.get(path_of(shown)).status_code == 200
    decide(people, image)
    newer = edit(me, **{name: upload(picture())}).json()[name]
    with pytest.raises(ImageNotFound):
        decide(people, image, SHOW)
    assert seen() == {newer}
    drain_all()
    remove()
    assert len(files()) == 1


def test_a_disconnected_process_shows_no_hidden_image(me, people, disconnected):
    mine = edit(me, avatar=upload(picture())).json()["avatar"]
    image = sent(me)
    status = publish(me, [image])
    drain_all()
    token = token_of(people[1])
    pages = [f"{STATUSES}/{status['id']}", "/api/v1/timelines/public"]
    shown = {image["url"], mine}

    def found():
        answers = [disconnected("ask", token, page) for page in pages]
        return [{address for address in shown if address in answer} for answer in answers]

    assert found() == found() == [shown] * 2
    decide(people, image)
    assert found() == [{mine}] * 2
    decide(people, {"id": path_of(mine).split("/")[3]})
    assert found() == [set()] * 2


def test_a_hidden_upload_cannot_be_posted(me, people):
    image = sent(me)
    decide(people, image)
    assert me.get(f"/api/v1/media/{image['id']}").status_code == 404
    body = {"status": "x", "media_ids": [image["id"]]}
    assert me.post(STATUSES, body).status_code == 422


@pytest.mark.parametrize("place", ["moderation.image_marked", "images.files_moved"])
@pytest.mark.parametrize("kind", [HIDE, SHOW])
def test_a_process_killed_between_row_and_files_is_completed(me, you, client, people, place, kind):
    image = sent(me, content=picture("JPEG", (1_200, 800)))
    status = publish(me, [image])
    with dying_at(place):
        decide(people, image)
    assert media(you, status) == []
    if kind is SHOW:
        decide(people, image, SHOW)
    drain_all()
    assert not is_served(client, image)
    assert len(files()) == 2
    assert [is_served(client, one) for one in media(you, status)] == [True] * (kind is SHOW)
    rows = [row for alias in all_aliases()[1:] for row in StoredImage.objects.on(alias)]
    assert [row.next_token for row in rows] == [None]


def test_while_the_store_is_away_the_pages_are_without_the_image(
    me, you, client, people, monkeypatch
):
    image = sent(me)
    status = publish(me, [image])

    def broken(*_args, **_options):
        raise OSError("no disk")

    monkeypatch.setattr(FileSystemStorage, "delete", broken)
    decide(people, image)
    assert media(you, status) == []
    monkeypatch.undo()
    drain_all()
    assert not is_served(client, image)


def test_a_killed_move_leaves_no_file_when_the_post_is_deleted(me, people):
    image = sent(me)
    status = publish(me, [image])
    with dying_at("images.files_moved"):
        decide(people, image)
    me.delete(f"{STATUSES}/{status['id']}?delete_media=true")
    remove()
    drain_all()
    remove()
    assert files() == []


def moderator(*permissions):
    user = User.objects.get(pk=make_account("mia"))
    User.objects.filter(pk=user.pk).update(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    browser = Client()
    sign_in(browser, User.objects.get(pk=user.pk))
    return browser


def test_moderators_hide_and_show_images_on_their_page(me, you, people):
    edit(me, avatar=upload(picture()))
    image = sent(me, description="Sea <b>")
    status = publish(me, [image])
    mia = moderator("view_decision", "add_decision")
    where = f"{PAGE}?account={people[0]}"
    page = mia.get(where).content.decode()
    assert page.count(IMAGE) == 2
    assert image["preview_url"] in page
    assert "Sea &lt;b&gt;" in page
    form = {"kind": "hide", "image": [image["id"], "x", "7", "9" * 19]}
    for reason, text in (("", "Give a reason"), ("x" * 501, "at most 500"), ("\0", "Null")):
        answer = mia.post(where, {**form, "reason": reason}, follow=True)
        assert text in answer.content.decode()
    assert media(you, status) == [image]
    answer = mia.post(where, {**form, "reason": "spam"}, follow=True).content.decode()
    assert "Decisions taken: 1" in answer
    assert "hidden since" in answer
    assert image["preview_url"] not in answer
    assert media(you, status) == []
    (row,) = Decision.objects.all()
    assert (row.kind, row.account_id, row.image_id, row.reason) == (
        *("hide", people[0], int(image["id"])),
        "spam",
    )
    (strike,) = me.get("/api/v1/strikes").json()
    assert (strike["action"], strike["status_ids"]) == ("hide_images", None)
    drain_all()
    (notification,) = me.get("/api/v1/notifications").json()
    warning = notification["moderation_warning"]
    assert (warning["action"], warning["measure"]) == ("none", "hide_images")
    mia.post(where, {"kind": "show", "image": image["id"], "reason": "a mistake"})
    assert len(media(you, status)) == 1
    assert "There is no such account" in mia.get(f"{PAGE}?account=nothing").content.decode()


def test_the_page_of_images_costs_the_same_with_more_images(me, people):
    """Its list has one query, however many images there are, and counts nothing."""
    mia = moderator("view_decision", "add_decision")
    where = f"{PAGE}?account={people[0]}"
    sent(me)
    mia.get(where)
    with count_calls() as few:
        mia.get(where)
    for _ in range(3):
        publish(me, [sent(me)])
    with count_calls() as many:
        assert mia.get(where).content.decode().count(IMAGE) == 4
    # Session, user, its token, its second step, rights of the user and of the groups, the account.
    assert many.sql == few.sql == {"default": 7, shard_of(people[0]): 1}
    assert not [one.sql for one in many.statements if "COUNT(" in one.sql or "OFFSET" in one.sql]


def test_a_report_shows_the_images_of_its_posts_hidden_or_not(me, people):
    hidden, shown = sent(me, description="Boat <1>"), sent(me)
    status = publish(me, [hidden, shown])
    post = PostId.from_public(status["id"])
    report = Report.objects.create(
        reporter_id=people[1], account_id=people[0], category="spam", post_ids=[post.base36]
    )
    mia = moderator("view_report", "view_decision")
    where = f"/admin/moderation/report/{report.pk}/change/"
    page = mia.get(where).content.decode()
    assert all(image["preview_url"] in page for image in (hidden, shown))
    assert 'alt="Boat &lt;1&gt;"' in page
    decide(people, hidden)
    page = mia.get(where).content.decode()
    assert hidden["preview_url"] not in page
    (moved,) = [one for one in list_images(people[0], 9) if one.id == int(hidden["id"])]
    assert url_of_file(moved.names.small) in page
    assert ">hidden</strong>" in page


def test_only_moderators_have_the_page(people):
    assert moderator("view_report").get(f"{PAGE}?account={people[0]}").status_code == 403
    assert Client().get(PAGE).status_code == 302


def test_viewers_without_the_right_to_decide_only_look(me, people):
    sent(me)
    viewer = moderator("view_decision")
    where = f"{PAGE}?account={people[0]}"
    assert "Hide the chosen" not in viewer.get(where).content.decode()
    assert viewer.post(where, {"kind": "hide", "image": "1", "reason": "x"}).status_code == 403


def test_an_accepted_appeal_shows_the_image_again_unless_it_is_gone(me, you, people):
    kept, gone = sent(me), sent(me)
    status, deleted = publish(me, [kept]), publish(me, [gone])
    decisions = [decide(people, image) for image in (kept, gone)]
    me.delete(f"{STATUSES}/{deleted['id']}?delete_media=true")
    drain_all()
    for decision in decisions:
        appeal = file_appeal(people[0], decision.pk, "It is mine")
        accept_appeal(appeal.pk, BECAUSE, datetime.now(UTC))
    assert len(media(you, status)) == 1
