"""The page of a conversation.

Bookmarks, favourites, and who responded to a post.

Lists of accounts, and conversations.

Tags in a browser: follow one, read all that are followed, and have them at home.
"""

import re
from collections.abc import Callable

import pytest
from django.db import OperationalError

from posts.actions.create_post import create_post
from posts.actions.declare_reaction import declare_reaction
from posts.ids import PostId
from posts.queries.context import FOR_VIEWERS
from posts.queries.reactions import known_reactions
from posts.types import Draft, Visibility
from relations.actions.follow import follow
from tests.callers import Caller
from tests.integration.pages.browsing import PRESSED, Browser, ids_on
from tests.world import drain_all, make_account, make_accounts, publish


def test_the_latest_messages_of_a_very_long_conversation_are_shown(world: None) -> None:
    ann, ben = make_account("ann"), make_account("ben")
    latest: PostId | None = None
    first: PostId | None = None
    for number in range(FOR_VIEWERS.depth + 5):
        text = f"@ann message {number}."
        draft = Draft(text, visibility=Visibility.DIRECT, in_reply_to=latest, thread=first)
        latest = create_post(ben, draft)
        first = first or latest
    drain_all()
    assert first is not None
    page = Browser(ann).read(f"/conversations/{first.public}")
    assert f"message {FOR_VIEWERS.depth + 4}." in page
    assert Browser(ann).read("/").count('id="unread-messages">1<') == 1


def test_a_form_with_a_made_up_message_before_it_is_sent(world: None) -> None:
    ann, ben = make_account("ann"), make_account("ben")
    first = create_post(ben, Draft("@ann psst", visibility=Visibility.DIRECT))
    drain_all()
    browser = Browser(ann)
    for before in ("", "1", "1 soon", "1 0001-01-01T00:00:00+14:00", "1 2026-01-01T00:00:00.000Z"):
        sent = {
            "status": "yes", "visibility": "direct", "talk": first.public, "names": "@ben",
            "in_reply_to_id": first.public, "place": "talk", "before": before,
        }  # fmt: skip
        assert 'class="day">Today<' in browser.act("/statuses", sent)


@pytest.mark.parametrize("act", ["bookmark", "favourite"])
def test_marked_posts_are_listed_with_the_older_ones_a_link_away(ann: int, act: str) -> None:
    posts = [publish(ann).public for _ in range(21)]
    browser = Browser(ann)
    assert "You have" in browser.read(f"/{act}s")
    for post in posts:
        browser.act(f"/statuses/{post}/{act}")
    page = browser.read(f"/{act}s")
    [link] = re.findall(r'class="older" href="(\?[^"]+)"', page)
    assert ids_on(page) + ids_on(browser.read(f"/{act}s{link}")) == posts[::-1]
    assert Browser().client.get(f"/{act}s")["Location"].startswith("/auth/sign_in")


@pytest.mark.usefixtures("delivered_at_once")
def test_the_people_who_responded_are_listed(ann: int) -> None:
    post, (bob, cyd) = publish(ann), make_accounts(2)
    path = f"/statuses/{post.public}"
    for page in ("reposts", "favourites"):
        assert "There are no" in Browser().read(f"{path}/{page}")
    Caller(bob).post(f"/api/v1{path}/reblog")
    Caller(cyd).post(f"/api/v1{path}/favourite")
    names = [Caller(one).get("/api/v1/accounts/verify_credentials").json() for one in (bob, cyd)]
    for page, name in zip(("reposts", "favourites"), names, strict=True):
        shown = re.findall(r'class="person" href="/@(\w+)"', Browser().read(f"{path}/{page}"))
        assert shown == [name["acct"]]
    Browser().read("/statuses/zz/reposts", 404)


EVIL = "<script>alert(1)</script>"


def test_a_list_is_made_filled_read_renamed_and_deleted(ann: int, drain: Callable[[], int]) -> None:
    bob, browser = make_account("bobby"), Browser(ann)
    follow(ann, bob)
    drain()
    edit = browser.send("/lists", {"title": f"Friends {EVIL}"})["Location"]
    path = edit.removesuffix("/edit")
    assert f'value="{bob}"' in browser.read(f"{edit}?q=bob")
    for _ in range(2):
        assert browser.send(f"{path}/add", {"account_id": str(bob)})["Location"] == edit
    assert f'value="{bob}"' not in browser.read(f"{edit}?q=bob").split('id="timeline"')[0]
    post, _ = publish(bob), publish(ann)
    drain()
    page = browser.read(path)
    assert ids_on(page) == [post.public] and EVIL not in page
    browser.send(edit, {"title": "Pals", "replies_policy": "none"})
    page = browser.read(edit)
    assert "Pals" in page and '"none" selected' in page and "Remove<" in page
    assert "1 member<" in browser.read("/lists")
    browser.send(f"{path}/remove", {"account_id": str(bob)})
    assert "Remove<" not in browser.read(edit)
    assert "0 members" in browser.read("/lists")
    assert "Pals" in browser.read("/lists") and "Pals" in browser.read(f"{path}/delete")
    assert browser.send(f"{path}/delete")["Location"] == "/lists"
    browser.read(path, 404)


def test_a_list_without_a_name_is_refused_on_the_page(ann: int) -> None:
    answer = Browser(ann).send("/lists", {"title": " "})
    assert answer.status_code == 422
    form = answer.content.decode().split('action="/lists"')[1].split("</form>")[0]
    assert 'role="alert"' in form and 'aria-describedby="list-fault"' in form
    stranger = Browser(make_account())
    own = Browser(ann).send("/lists", {"title": "Mine"})["Location"]
    stranger.read(own, 404)
    assert stranger.send(own, {"title": "Yours"}).status_code == 404


def test_a_conversation_is_unread_until_it_is_opened(ann: int, drain: Callable[[], int]) -> None:
    bob = Caller(make_account("bob"))
    sent = bob.post("/api/v1/statuses", {"status": "@ann psst", "visibility": "direct"}).json()
    drain()
    browser = Browser(ann)
    page = browser.read("/conversations")
    assert "psst" in page and ", unread" in page
    [talk] = re.findall(r'class="open" href="(/conversations/\d+)#end"', page)
    [path] = re.findall(r'action="(/conversations/\d+/read)"', browser.read(talk))
    assert ", unread" in browser.read("/conversations"), "to read a page changes nothing"
    for _ in range(2):
        there = browser.send(path)["Location"]
        assert there == f"/conversations/{sent['id']}#end" and "psst" in browser.read(there)
    assert ", unread" not in browser.read("/conversations")
    [path] = re.findall(r'action="(/conversations/\d+/delete)"', browser.read("/conversations"))
    assert browser.act(path) == ""
    assert "psst" not in browser.read("/conversations")
    assert Browser(make_account()).send(path).status_code == 404


@pytest.fixture
def post(world: None) -> str:
    made = publish(make_account("bob"), "a cup of #Tea").public
    drain_all()
    return made


def test_a_tag_is_followed_and_left_on_its_page(ann: int, post: str) -> None:
    browser = Browser(ann)
    page = browser.read("/tags/Tea")
    assert ids_on(page) == [post] and 'action="/tags/Tea/follow"' in page
    assert browser.send("/tags/Tea/follow").status_code == 303
    page = browser.read("/followed_tags")
    assert ids_on(page) == [post] and 'href="/tags/Tea"' in page
    assert "Following: unfollow #tea" in browser.read("/tags/tea")
    assert browser.send("/tags/Tea/unfollow").status_code == 303
    assert "Follow a tag, and public posts" in browser.read("/followed_tags")


def test_home_shows_them_after_the_choice(ann: int, post: str) -> None:
    browser = Browser(ann)
    browser.send("/tags/tea/follow")
    assert ids_on(browser.read("/")) == []
    assert 'name="home">' in browser.read("/followed_tags")
    browser.send("/followed_tags/home", {"home": "on"})
    assert 'name="home" checked>' in browser.read("/followed_tags")
    assert ids_on(browser.read("/")) == [post]
    browser.send("/followed_tags/home")
    assert ids_on(browser.read("/")) == []


def test_guests_read_tags_and_follow_none(ann: int, post: str) -> None:
    guest = Browser()
    page = guest.read("/tags/tea")
    assert ids_on(page) == [post] and 'action="/tags/tea' not in page
    assert 'href="/auth/sign_in?next=/tags/tea" aria-label="Follow #tea"' in page
    assert guest.client.get("/followed_tags").status_code == 302
    assert guest.send("/tags/tea/follow").status_code == 302
    assert guest.read("/tags/no%20tag", status=404)


def test_the_tabs_of_home_lead_to_them(ann: int) -> None:
    assert '<a href="/followed_tags">Tags</a>' in Browser(ann).read("/")
    page = Browser(ann).read("/followed_tags")
    assert '<a href="/followed_tags" aria-current="page">Tags</a>' in page


def test_a_tag_says_how_much_it_is_used_and_who_used_it(ann: int, post: str) -> None:
    for _ in range(2):
        publish(ann, "more #tea")
    drain_all()
    page = Browser().read("/tags/tea")
    assert "<b>3</b> posts this week" in page and "<b>2</b> people today" in page
    [head] = re.findall(r'class="faces">(.*?)</span>', page)
    assert sorted(re.findall(r'href="/(@\w+)"', head)) == ["@ann", "@bob"]
    # Further down the people are not those of the newest posts.
    assert 'class="faces"' not in Browser().read(f"/tags/tea?max_id={int(post) + 1}")
    unused = Browser(ann).read("/tags/nothing")
    assert "<b>0</b> posts this week" in unused and "today" not in unused


@pytest.mark.usefixtures("delivered_at_once")
def test_a_reaction_is_pressed_ended_counted_and_listed(ann: int) -> None:
    post, browser = publish(ann), Browser(ann)
    path = f"/statuses/{post.public}"
    assert "react" not in browser.read(path)
    for name in ("clap", "cooked", "tried", "know"):
        declare_reaction(name, {"en": f"{name} <b>", "de": "klatscht"}, at_ms=0)
    assert 'class="reactions"' in Browser().read(path)
    part = browser.act(f"{path}/react/clap")
    assert part.count(PRESSED) == 1 and 'aria-label="clap &lt;b&gt;, 1 so far"' in part
    assert f'formaction="{path}/unreact/clap"' in part
    assert (
        "klatscht, bisher 1"
        in browser.send(
            f"{path}/react/clap", **{"HX-Request": "true", "Accept-Language": "de"}
        ).content.decode()
    )
    assert f'<a href="{path}/reactions/clap"><b>1</b>' in browser.read(path)
    for reader in (browser, Browser()):
        page = reader.read(f"{path}/reactions/clap")
        assert "Reactions: clap &lt;b&gt;" in page and 'class="person" href="/@ann"' in page
    assert "No one reacted so yet" in browser.read(f"{path}/reactions/know")
    browser.read(f"{path}/reactions/unknown", 404)
    assert browser.send(f"{path}/react/unknown").status_code == 404
    answer = browser.send(f"{path}/unreact/clap", {"next": "/public"})
    assert (answer.status_code, answer["Location"]) == (303, "/public")
    assert PRESSED not in browser.read(path)


def test_a_page_without_reactions_is_drawn_while_the_default_database_is_away(
    ann: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    post, browser = publish(ann), Browser(ann)
    declare_reaction("clap", {"en": "clap"}, at_ms=0)

    def away() -> None:
        raise OperationalError

    monkeypatch.setattr(known_reactions, "_read", away)
    assert "react" not in browser.read(f"/statuses/{post.public}")
