"""Lists of accounts, and conversations."""

import re
from collections.abc import Callable

from relations.actions.follow import follow
from tests.callers import Caller
from tests.integration.pages.browsing import Browser, ids_on
from tests.world import make_account, publish

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
