"""Quotes in a browser: written, shown as a card, listed, revoked."""

from typing import Any

from tests.callers import Caller
from tests.integration.pages.browsing import Browser
from tests.world import drain_all, publish

STATUSES = "/api/v1/statuses"
EVIL = "<script>alert(1)</script>"


def quote_of(author: int, post_id: str) -> Any:
    return Caller(author).get(f"{STATUSES}/{post_id}").json()["quote"]


def test_a_quote_is_written_shown_listed_and_revoked(people: list[int]) -> None:
    ann, bob = Browser(people[0]), Browser(people[1])
    original = publish(people[0], f"original {EVIL}").public
    assert f'href="/compose?quote={original}"' in bob.read(f"/statuses/{original}")
    form = bob.read(f"/compose?quote={original}")
    assert "original &lt;script&gt;" in form and EVIL not in form
    assert f'name="quoted_status_id" value="{original}"' in form
    sent = {"status": "look", "quoted_status_id": original, "visibility": "public", "key": "k"}
    assert bob.send("/statuses", sent | {"quote_approval_policy": "nobody"}).status_code == 303
    [quoting] = Caller(people[1]).get(f"/api/v1/accounts/{people[1]}/statuses").json()
    assert quoting["quote_approval"]["automatic"] == []
    drain_all()
    page = ann.read(f"/statuses/{original}/quotes")
    assert quoting["id"] in page and "Quoted post by" in page
    assert "quoted your post" in ann.read("/notifications")
    revoke = f"/statuses/{quoting['id']}/revoke_quote"
    assert revoke in page and revoke not in bob.read(f"/statuses/{quoting['id']}")
    bob.read(revoke, 404)
    assert "Take your post out?" in ann.read(revoke)
    assert ann.send(revoke).status_code == 303
    assert quote_of(people[1], quoting["id"])["state"] == "revoked"
    assert "took it out" in bob.read(f"/statuses/{quoting['id']}")
    assert ann.send(revoke).status_code == 303
    assert "There are no quotes yet." in ann.read(f"/statuses/{original}/quotes")


def test_the_author_chooses_who_may_quote(people: list[int]) -> None:
    ann, bob = Browser(people[0]), Browser(people[1])
    original = publish(people[0], "original").public
    path = f"/statuses/{original}/quotes"
    assert 'name="quote_approval_policy"' in ann.read(path)
    assert 'name="quote_approval_policy"' not in bob.read(path).split("<main", 1)[-1]
    assert ann.send(path, {"quote_approval_policy": "nobody"}).status_code == 303
    assert "/compose?quote=" not in bob.read(f"/statuses/{original}")
    assert f"/compose?quote={original}" in ann.read(f"/statuses/{original}")
    assert bob.send(path, {"quote_approval_policy": "public"}).status_code == 403
    assert ann.send("/settings/privacy", {"privacy": "public", "quote_policy": "followers"})
    assert 'value="followers" selected' in ann.read("/settings/privacy")
    assert 'value="followers" selected' in ann.read("/compose")


def test_a_refused_quote_keeps_the_card(people: list[int]) -> None:
    bob = Browser(people[1])
    original = publish(people[0], "original").public
    sent = {"status": "x" * 6_000, "quoted_status_id": original, "visibility": "public"}
    answer = bob.send("/statuses", sent)
    assert answer.status_code == 422
    assert f'name="quoted_status_id" value="{original}"' in answer.content.decode()
    bob.read("/compose?quote=nonsense", 404)


def test_what_is_not_shown_says_why(people: list[int]) -> None:
    original = publish(people[0], "original").public
    sent = {"status": "look", "quoted_status_id": original}
    quoting = Caller(people[1]).post(STATUSES, sent).json()["id"]
    cyd = Browser(people[2])
    assert "original" in cyd.read(f"/statuses/{quoting}")
    Caller(people[2]).post(f"/api/v1/accounts/{people[0]}/mute")
    page = cyd.read(f"/statuses/{quoting}")
    assert "an account that you mute" in page and ">original<" not in page
    Caller(people[0]).delete(f"{STATUSES}/{original}")
    assert "is deleted" in Browser().read(f"/statuses/{quoting}")
