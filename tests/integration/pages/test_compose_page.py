"""Writing a post in a browser: images, polls, replies, edits, and refusals that lose nothing."""

import re
from pathlib import Path
from typing import Any

import orjson
import pytest
from pytest_django import Settings

from accounts.actions.update_profile import update_profile
from accounts.models import User
from accounts.types import ProfileEdit, Restriction
from pages import site
from posts.actions.delete_post import delete_post
from posts.ids import FIRST
from relations.actions.follow import follow
from tests.callers import Caller
from tests.integration.pages.browsing import Browser, ids_on
from tests.pictures import picture, upload
from tests.world import drain_all, make_account, publish, restrict
from timelines.api import news
from timelines.increments.home_news import HomeNews

EVIL = "</textarea><script>alert(1)</script>"
KEPT = re.compile(r'name="media_ids" value="(\d+)"')


@pytest.fixture(autouse=True)
def store_of_files(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_DIR = str(tmp_path)
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(tmp_path)},
        },
    }


def newest(account_id: int) -> Any:
    """The newest post of an account, as the API shows it to that account."""
    caller = Caller(account_id)
    return caller.get(f"/api/v1/accounts/{account_id}/statuses").json()[0]


def test_a_post_has_images_with_descriptions(ann: int) -> None:
    browser = Browser(ann)
    page = browser.act("/compose/images", {"image": [upload(picture()), upload(picture())]})
    first, second = KEPT.findall(page)
    form = {
        "status": "look", "media_ids": [first, second], "without": second, "sensitive": "on",
        f"description_{first}": f"a gull {EVIL}", "key": "k1", "image": "",
    }  # fmt: skip
    for _ in range(2):
        assert browser.send("/statuses", form).status_code == 303
    post = newest(ann)
    [image] = post["media_attachments"]
    assert (image["id"], image["description"]) == (first, f"a gull {EVIL}")
    page = browser.read(f"/statuses/{post['id']}")
    assert "Show sensitive photo" in page and EVIL not in page


def test_an_upload_without_scripts_draws_the_form_with_all_that_was_typed(ann: int) -> None:
    form = {
        "status": "half written", "with_warning": "on", "spoiler_text": "birds", "language": "de",
        "visibility": "private", "image": [upload(picture())],
    }  # fmt: skip
    answer = Browser(ann).send("/compose/images", form)
    page = answer.content.decode()
    assert answer.status_code == 200 and len(KEPT.findall(page)) == 1
    for part in ("half written", 'value="birds"', '"de" selected', '"private" selected'):
        assert part in page, part


@pytest.mark.parametrize("count", [1, 5])
def test_files_that_are_refused_lose_nothing(ann: int, count: int) -> None:
    file = upload(b"no image") if count == 1 else upload(picture())
    answer = Browser(ann).send("/compose/images", {"status": "typed", "image": [file] * count})
    assert answer.status_code == 422
    assert b'role="alert"' in answer.content and b"typed" in answer.content


def test_a_refused_post_is_drawn_with_the_text_and_the_reason(
    ann: int, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.POST_MAX_CHARACTERS = 20
    monkeypatch.setattr(site, "_answers", {})
    browser = Browser(ann)
    assert 'data-most="20"' in browser.read("/")
    [image] = KEPT.findall(browser.act("/compose/images", {"image": [upload(picture())]}))
    form = {
        "status": f"too long {EVIL}", "with_warning": "on", "spoiler_text": "beware", "key": "k",
        "media_ids": image, f"description_{image}": "a gull", "with_poll": "on",
        "option": ["tea", "", "", ""], "expires_in": "300",
    }  # fmt: skip
    answer = browser.send("/statuses", form)
    page = answer.content.decode()
    assert answer.status_code == 422 and 'role="alert"' in page and EVIL not in page
    for part in ("too long", 'value="beware"', image, "a gull", 'value="tea"', '"300" selected'):
        assert part in page, part
    script = browser.send("/statuses", form, **{"HX-Request": "true"})
    assert script.status_code == 422 and b"<textarea" not in script.content


def test_a_post_that_is_gone_does_not_take_the_text_with_it(ann: int) -> None:
    post = publish(ann, "a question")
    form = {"status": "a long answer", "key": "k1"}
    delete_post(post)
    for path, more in (
        ("/statuses", {"in_reply_to_id": post.public}),
        ("/statuses", {"in_reply_to_id": f"{post.public}/context"}),
        (f"/statuses/{post.public}/edit", {"edited": post.public}),
        (f"/statuses/{post.public}/edit", {"edited": "x"}),
    ):
        answer = Browser(ann).send(path, {**form, **more})
        assert answer.status_code == 404 and "a long answer</textarea>" in answer.content.decode()


def test_chosen_images_that_were_not_sent_are_not_forgotten(ann: int) -> None:
    answer = Browser(ann).send("/statuses", {"status": "look", "image": "gull.jpg"})
    assert answer.status_code == 422 and "Attach" in answer.content.decode()


def test_a_session_that_ended_shows_the_text_again(ann: int) -> None:
    browser = Browser(ann)
    browser.client.cookies["tideline_session"] = "ended"
    answer = browser.send("/statuses", {"status": "long thoughts"})
    assert answer.status_code == 401 and b"long thoughts" in answer.content


def test_a_poll_is_asked_and_voted_on(ann: int) -> None:
    form = {
        "status": "which?", "with_poll": "on", "option": ["tea", "coffee", " ", ""],
        "expires_in": "3600",
    }  # fmt: skip
    Browser(ann).send("/statuses", form)
    post, bob = newest(ann), Browser(make_account())
    path = f"/statuses/{post['id']}"
    assert [one["title"] for one in post["poll"]["options"]] == ["tea", "coffee"]
    assert 'type="radio"' in bob.read(path) and 'type="radio"' not in Browser(ann).read(path)
    assert bob.send(f"{path}/vote").status_code == 422
    part = bob.act(f"{path}/vote", {"choice": "1"})
    assert "100%" in part and "your vote" in part and "<form" not in part
    assert bob.send(f"{path}/vote", {"choice": "1"}).status_code == 422
    assert 'type="radio"' not in Browser().read(path)


def test_fields_that_are_hidden_are_not_sent(ann: int) -> None:
    Browser(ann).send("/statuses", {"status": "plain", "spoiler_text": "x", "option": ["a", "b"]})
    post = newest(ann)
    assert (post["spoiler_text"], post["poll"]) == ("", None)


def test_the_form_has_the_defaults_of_the_account(ann: int) -> None:
    update_profile(ann, ProfileEdit(privacy="unlisted", language="de"))
    page = Browser(ann).read("/compose?text=hello")
    assert '"unlisted" selected' in page and '"de" selected' in page and ">hello</textarea>" in page


def test_a_reply_mentions_all_and_has_the_readers_of_the_post(ann: int) -> None:
    cyd, bob = make_account("cyd"), Caller(make_account("bob"))
    post = bob.post("/api/v1/statuses", {"status": "@ann @cyd hi", "visibility": "direct"}).json()
    page = Browser(ann).read(f"/statuses/{post['id']}")
    assert ">@bob @cyd </textarea>" in page and '"direct" selected' in page
    form = {"status": "@bob yes", "in_reply_to_id": post["id"], "visibility": "direct"}
    assert Browser(ann).send("/statuses", form)["Location"] == "/"
    part = Browser(ann).act("/statuses", {**form, "place": "thread"})
    assert "yes" in part and '<textarea id="reply-text"' in part
    Browser(cyd).read(f"/statuses/{newest(ann)['id']}", 404)


def test_an_own_post_is_edited_and_its_versions_are_shown(ann: int) -> None:
    browser = Browser(ann)
    [image] = KEPT.findall(browser.act("/compose/images", {"image": [upload(picture())]}))
    browser.send("/statuses", {"status": "first words", "media_ids": image})
    path = f"/statuses/{newest(ann)['id']}"
    page = browser.read(f"{path}/edit")
    assert ">first words</textarea>" in page and KEPT.findall(page) == [image]
    form = {"status": "better words", "media_ids": image, "edited": path.rpartition("/")[2]}
    assert browser.send(f"{path}/edit", form)["Location"] == path
    assert len(newest(ann)["media_attachments"]) == 1
    history = Browser().read(f"{path}/history")
    assert history.index("better words") < history.index("first words")
    refused = browser.send(f"{path}/edit", {**form, "status": " ", "without": image})
    assert refused.status_code == 422 and f'action="{path}/edit"' in refused.content.decode()
    stranger = Browser(make_account())
    stranger.read(f"{path}/edit", 404)
    assert stranger.send(f"{path}/edit", form).status_code == 404


def test_a_post_in_place_leaves_an_empty_form_and_is_new_at_once(
    ann: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while the index of the machine does not know the post yet."""
    monkeypatch.setattr(news, "find_home_news", lambda *_: HomeNews([], 0, FIRST))
    old, browser = publish(ann), Browser(ann)
    [key] = re.findall(r'name="key" value="(\w+)"', browser.read("/"))
    form = {"status": "just now", "key": key, "place": "home"}
    answer = browser.send("/statuses", form, **{"HX-Request": "true"})
    part = answer.content.decode()
    said = {"text": "Posted.", "href": f"/statuses/{newest(ann)['id']}"}
    assert orjson.loads(answer["HX-Trigger"]) == {"posted": said} and "just now" not in part
    assert key not in part and 'name="key"' in part and "<html" not in part
    assert ids_on(browser.read(f"/home/new?since_id={old.public}&told=1")) == [newest(ann)["id"]]


def test_a_thread_is_muted_from_any_post(ann: int) -> None:
    post = publish(make_account())
    part = Browser(ann).act(f"/statuses/{post.public}/mute")
    assert "Unmute this thread" in part
    assert "Mute this thread" in Browser(ann).act(f"/statuses/{post.public}/unmute")


def test_without_scripts_the_home_page_says_that_the_post_is_there(ann: int) -> None:
    browser = Browser(ann)
    answer = browser.send("/statuses", {"status": "here it is"})
    post = newest(ann)["id"]
    assert answer["Location"] == f"/?sent={post}"
    assert f'Posted. <a href="/statuses/{post}">View</a>' in browser.read(answer["Location"])
    assert "Posted." not in browser.read("/?sent=%3Cb%3E")


def test_a_photo_moves_forward_and_no_other_is_lost(ann: int) -> None:
    browser = Browser(ann)
    page = browser.act("/compose/images", {"image": [upload(picture()) for _ in range(3)]})
    one, two, three = KEPT.findall(page)
    form = {"media_ids": [one, two, three]}
    for moved, order in (
        (three, [one, three, two]),
        (one, [one, two, three]),
        ("7", form["media_ids"]),
    ):
        assert KEPT.findall(browser.act("/compose/images", {**form, "forward": moved})) == order


def test_names_and_tags_are_suggested(ann: int) -> None:
    make_account("barbara")
    browser = Browser(ann)
    assert 'data-text="@barbara"' in browser.read("/compose/suggestions?q=@barb")
    for asked in ("", "@", "barb"):
        browser.read(f"/compose/suggestions?q={asked}", 204)


def test_a_message_has_the_names_of_its_people(ann: int) -> None:
    make_account("bob")
    browser = Browser(ann)
    form = {"to": "bob, @bob", "status": f"hello {EVIL}", "key": "k1"}
    answer = browser.send("/conversations/new", form)
    first = newest(ann)
    assert answer["Location"] == f"/conversations/{first['id']}"
    assert (first["visibility"], len(first["mentions"])) == ("direct", 1)
    page = browser.read(answer["Location"])
    assert EVIL not in page and 'name="names" value="@bob"' in page
    sent = {
        "names": "@bob",
        "in_reply_to_id": first["id"],
        "visibility": "direct",
        "talk": first["id"],
    }
    part = browser.act("/statuses", {**sent, "status": "more", "place": "talk", "key": "k2"})
    assert 'hx-swap-oob="beforeend:#messages"' in part and "more" in part
    assert [one["acct"] for one in newest(ann)["mentions"]] == ["bob"]
    empty = browser.send("/statuses", {**sent, "status": " ", "key": "k3"})
    assert empty.status_code == 422


def test_drafts_of_messages_are_kept_by_who_gets_them(ann: int) -> None:
    drafts = {"bob": f'data-draft="{ann}:message-@bob"', "": f'data-draft="{ann}:message-"'}
    for name, draft in drafts.items():
        assert draft in Browser(ann).read(f"/conversations/new?to={name}")


def test_a_new_message_offers_the_people_that_one_follows(ann: int, bob: int) -> None:
    offer = 'href="/conversations/new?to=bob"'
    assert offer not in Browser(ann).read("/conversations/new")
    follow(ann, bob)
    assert offer in Browser(ann).read("/conversations/new")
    assert offer not in Browser(ann).read("/conversations/new?to=eve")


def test_a_message_to_nobody_is_refused(ann: int) -> None:
    for to, fault in (("@absent", "There is no account @absent"), (" ", "Say who gets")):
        answer = Browser(ann).send("/conversations/new", {"to": to, "status": "hi", "key": "k"})
        assert answer.status_code == 422 and fault in answer.content.decode()
    assert Caller(ann).get(f"/api/v1/accounts/{ann}/statuses").json() == []


def test_a_conversation_outlives_the_accounts_that_it_names(ann: int) -> None:
    people = [make_account(name) for name in ("bob", "eve")]
    Browser(ann).send("/conversations/new", {"to": "bob eve", "status": "we three", "key": "k"})
    first = newest(ann)["id"]
    drain_all()
    assert 'name="names" value="@bob @eve"' in Browser(ann).read(f"/conversations/{first}")
    restrict(people[1], Restriction.SUSPENDED)
    drain_all()
    page = Browser(ann).read(f"/conversations/{first}")
    assert "we three" in page and 'name="names" value="@bob"' in page


def test_an_answer_goes_to_the_people_of_the_latest_message(ann: int) -> None:
    """Eve wrote to Ann alone. What Ann answers is not for Bob, who wrote before."""
    for name in ("bob", "eve"):
        make_account(name)
    Browser(ann).send("/conversations/new", {"to": "bob eve", "status": "we three", "key": "k"})
    first = newest(ann)["id"]
    for name, text in (("bob", "@ann @eve hello"), ("eve", "@ann between us")):
        sent = {"status": text, "visibility": "direct", "in_reply_to_id": first}
        answer = Caller(User.objects.get(username=name).pk).post("/api/v1/statuses", sent)
        assert answer.status_code == 200
    drain_all()
    page = Browser(ann).read(f"/conversations/{first}")
    assert "hello" in page and "between us" in page
    assert 'name="names" value="@eve"' in page and "goes to <bdi>@eve</bdi>" in page


def test_a_conversation_is_read_by_its_people_only(ann: int) -> None:
    bob, eve = make_account("bob"), make_account("eve")
    Browser(ann).send("/conversations/new", {"to": "bob", "status": "between us", "key": "k"})
    first = newest(ann)["id"]
    path = f"/conversations/{first}"
    assert "between us" in Browser(bob).read(path)
    Browser(eve).read(path, 404)
    public = publish(ann, "for all").public
    Browser(bob).read(f"/conversations/{public}", 404)
    answer = Browser(bob).client.get(f"{path}?seen={first}", headers={"HX-Request": "true"})
    assert answer.status_code == 204
