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


def test_the_quoted_author_is_notified_also_of_closed_quotes(people, me, you, original):
    quoting = quote(you, original)
    closed = quote(you, original, visibility="private")
    quote(me, original)
    drain_all()
    your_id = str(people[1])
    assert told(me) == [("quote", your_id, closed), ("quote", your_id, quoting)]
    assert told(me, {"types[]": "quote"}) == told(me)
    you.delete(f"{STATUSES}/{quoting}")
    drain_all()
    assert told(me) == [("quote", your_id, closed)]
    me.post(f"{STATUSES}/{original}/quotes/{closed}/revoke")
    assert told(me) == []
    assert told(you) == []


def test_an_edit_notifies_who_quotes_once(people, me, you, them, original, monkeypatch):
    monkeypatch.setattr(notify_quoting, "AT_ONCE", 1)
    quoting = [quote(you, original), quote(them, original, visibility="private")]
    quote(me, original)
    revoked = quote(them, original)
    me.post(f"{STATUSES}/{original}/quotes/{revoked}/revoke")
    drain_all()
    edit(me, original, "new")
    my_id = str(people[0])
    assert told(you) == [("quoted_update", my_id, quoting[0])]
    assert told(them) == [("quoted_update", my_id, quoting[1])]
    edit(me, original, "newer")
    before = [rows(person) for person in people]
    replay_everything()
    assert [rows(person) for person in people] == before
    assert len(told(you)) == len(told(them)) == 1
    assert [kind for kind, *_ in told(me)] == ["quote"] * 3


def test_no_more_when_the_accounts_block_each_other(people, me, you, original):
    quote(you, original)
    drain_all()
    you.post(f"/api/v1/accounts/{people[0]}/block")
    drain_all()
    edit(me, original, "new")
    assert told(me) == [] and told(you) == []


def test_many_quotes(people, me, original):
    others = [Caller(account_id) for account_id in make_accounts(3)]
    for other in others:
        quote(other, original)
    drain_all()
    edit(me, original, "new")
    assert all(kind == "quoted_update" for other in others for kind, *_ in told(other))
