"""Who is quoted is notified, and who quotes a post that is edited."""

from notifications.actions import notify_quoting
from tests.callers import Caller
from tests.integration.notifications.listing import replay_everything, rows, told
from tests.integration.posts.interacting import STATUSES
from tests.world import drain_all, make_accounts


def quote(caller: Caller, quoted: str, **more: str) -> str:
    answer = caller.post(STATUSES, {"status": "look", "quoted_status_id": quoted, **more})
    assert answer.status_code == 200, answer.content
    return str(answer.json()["id"])


def edit(caller: Caller, post: str, text: str) -> None:
    path = f"{STATUSES}/{post}"
    assert caller.client.put(path, {"status": text}, "application/json").status_code == 200
    drain_all()


def test_the_quoted_author_is_notified_also_of_closed_quotes(people, ann, bob, original):
    quoting = quote(bob, original)
    closed = quote(bob, original, visibility="private")
    quote(ann, original)
    drain_all()
    you = str(people[1])
    assert told(ann) == [("quote", you, closed), ("quote", you, quoting)]
    assert told(ann, {"types[]": "quote"}) == told(ann)
    bob.delete(f"{STATUSES}/{quoting}")
    drain_all()
    assert told(ann) == [("quote", you, closed)]
    ann.post(f"{STATUSES}/{original}/quotes/{closed}/revoke")
    assert told(ann) == []
    assert told(bob) == []


def test_an_edit_notifies_who_quotes_once(people, ann, bob, cat, original, monkeypatch):
    monkeypatch.setattr(notify_quoting, "AT_ONCE", 1)
    quoting = [quote(bob, original), quote(cat, original, visibility="private")]
    quote(ann, original)
    revoked = quote(cat, original)
    ann.post(f"{STATUSES}/{original}/quotes/{revoked}/revoke")
    drain_all()
    edit(ann, original, "new")
    me = str(people[0])
    assert told(bob) == [("quoted_update", me, quoting[0])]
    assert told(cat) == [("quoted_update", me, quoting[1])]
    edit(ann, original, "newer")
    before = [rows(person) for person in people]
    replay_everything()
    assert [rows(person) for person in people] == before
    assert len(told(bob)) == len(told(cat)) == 1
    assert [kind for kind, *_ in told(ann)] == ["quote"] * 3


def test_no_more_when_the_accounts_block_each_other(people, ann, bob, original):
    quote(bob, original)
    drain_all()
    bob.post(f"/api/v1/accounts/{people[0]}/block")
    drain_all()
    edit(ann, original, "new")
    assert told(ann) == [] and told(bob) == []


def test_many_quotes(people, ann, original):
    others = [Caller(account_id) for account_id in make_accounts(3)]
    for other in others:
        quote(other, original)
    drain_all()
    edit(ann, original, "new")
    assert all(kind == "quoted_update" for other in others for kind, *_ in told(other))
