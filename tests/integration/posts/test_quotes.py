"""Quotes over HTTP: published, shown to each viewer by the rules, counted, revoked."""

import pytest
from django.test import Client

from accounts.types import Restriction
from posts.actions.hide_post import hide_post
from posts.ids import PostId
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller, assert_refused, ids_of, next_link
from tests.integration.posts.interacting import STATUSES, do, see
from tests.truth import assert_drained_truth
from tests.world import NOW, publish, restrict

UNSEEN = {"quoted_status": None}


def quote(caller, quoted, text="look", status=200, **more):
    sent = {"status": text, "quoted_status_id": quoted, **more}
    answer = caller.post(STATUSES, sent)
    assert answer.status_code == status, answer.content
    return answer.json()


def put(caller, path, body):
    return caller.client.put(path, body, "application/json")


def quotes_of(caller, post_id):
    return ids_of(caller.get(f"{STATUSES}/{post_id}/quotes"))


def count_of(caller, post_id):
    return see(caller, post_id)["quotes_count"]


@pytest.fixture
def cyd(people):
    return Caller(people[2])


def test_a_quote_shows_the_whole_quoted_post(people, ann, bob, cyd, original, drain):
    quoting = quote(bob, original)
    assert quoting["quote"]["state"] == "accepted"
    assert quoting["quote"]["quoted_status"]["content"] == "<p>the original</p>"
    assert quoting["quote"]["quoted_status"]["account"]["id"] == str(people[0])
    drain()
    for viewer in (ann, bob, cyd):
        shown = see(viewer, quoting["id"])["quote"]["quoted_status"]
        assert shown["id"] == original and shown["quotes_count"] == 1
    guest = Client().get(f"{STATUSES}/{quoting['id']}").json()
    assert guest["quote"]["quoted_status"]["id"] == original
    assert see(ann, original)["quote"] is None
    assert quotes_of(cyd, original) == [quoting["id"]]
    assert_drained_truth()


def test_a_quote_of_a_quote_names_the_inner_post_only(people, ann, bob, cyd, original, drain):
    inner = quote(bob, original)["id"]
    outer = quote(cyd, inner)["id"]
    drain()
    shown = see(ann, outer)["quote"]["quoted_status"]
    assert shown["quote"] == {"state": "accepted", "quoted_status_id": original}
    ann.post(f"{STATUSES}/{original}/quotes/{inner}/revoke")
    shown = see(ann, outer)["quote"]["quoted_status"]
    assert shown["quote"] == {"state": "revoked", "quoted_status_id": None}


def test_a_repost_of_a_quote_and_a_quote_of_a_repost(people, ann, bob, cyd, original, drain):
    quoting = quote(bob, original)["id"]
    repost = do(cyd, "reblog", quoting)
    assert repost["reblog"]["quote"]["quoted_status"]["id"] == original
    again = quote(ann, repost["id"])
    assert again["quote"]["quoted_status"]["id"] == quoting


def test_a_quote_needs_no_text_and_can_be_a_reply(people, ann, bob, original, drain):
    quoting = quote(bob, original, text="", in_reply_to_id=original)
    assert quoting["in_reply_to_id"] == original and quoting["content"] == ""
    drain()
    seen = see(ann, original)
    assert (seen["replies_count"], seen["quotes_count"]) == (1, 1)
    bob.delete(f"{STATUSES}/{quoting['id']}")
    drain()
    seen = see(ann, original)
    assert (seen["replies_count"], seen["quotes_count"]) == (0, 0)
    assert quotes_of(ann, original) == []
    assert_drained_truth()


def test_the_account_that_quotes_sees_it_before_the_drain(people, bob, original):
    assert count_of(bob, original) == 0
    quoting = quote(bob, original)["id"]
    assert count_of(bob, original) == 1 and quotes_of(bob, original) == [quoting]
    bob.delete(f"{STATUSES}/{quoting}")
    assert count_of(bob, original) == 0 and quotes_of(bob, original) == []


def test_what_the_viewer_may_not_see_is_not_shown(people, ann, bob, cyd, original, drain):
    quoting = quote(bob, original)["id"]
    drain()

    def state(viewer):
        return see(viewer, quoting)["quote"]

    cyd.post(f"/api/v1/accounts/{people[0]}/mute")
    assert state(cyd) == {"state": "muted_account"} | UNSEEN
    cyd.post(f"/api/v1/accounts/{people[0]}/unmute")
    cyd.post(f"/api/v1/accounts/{people[0]}/block")
    assert state(cyd) == {"state": "blocked_account"} | UNSEEN
    cyd.post(f"/api/v1/accounts/{people[0]}/unblock")
    assert state(cyd)["state"] == "accepted"
    ann.post(f"/api/v1/accounts/{people[2]}/block")
    drain()
    assert state(cyd) == {"state": "unauthorized"} | UNSEEN
    ann.post(f"/api/v1/accounts/{people[2]}/unblock")
    drain()
    hide_post(PostId.from_public(original), NOW, 1)
    assert state(cyd) == {"state": "deleted"} | UNSEEN
    hide_post(PostId.from_public(original), None, 2)
    assert state(cyd)["state"] == "accepted"
    restrict(people[0], Restriction.SUSPENDED)
    drain()
    assert state(cyd) == {"state": "unauthorized"} | UNSEEN
    restrict(people[0], Restriction.NONE)
    drain()
    Caller(people[0]).delete(f"{STATUSES}/{original}")
    assert state(cyd) == state(bob) == {"state": "deleted"} | UNSEEN
    drain()
    assert_drained_truth()


def test_a_private_quoted_post_is_for_its_readers(people, ann, bob, cyd, drain):
    follow(people[1], people[0])
    follow(people[2], people[0])
    drain()
    private = ann.post(STATUSES, {"status": "psst", "visibility": "private"}).json()["id"]
    quoting = quote(ann, private, visibility="public")
    assert quoting["visibility"] == "private"
    assert see(bob, quoting["id"])["quote"]["quoted_status"]["id"] == private
    assert_refused(bob.post(STATUSES, {"status": "x", "quoted_status_id": private}), 403)
    drain()
    assert count_of(ann, private) == 0 and quotes_of(ann, private) == []


def test_a_closed_quote_can_be_seen_by_the_quoted_author(people, ann, bob, cyd, original, drain):
    quoting = quote(bob, original, visibility="private")["id"]
    drain()
    assert see(ann, quoting)["quote"]["state"] == "accepted"
    assert cyd.get(f"{STATUSES}/{quoting}").status_code == 404
    assert count_of(ann, original) == 0 and quotes_of(ann, original) == []
    assert_refused(bob.post(STATUSES, {
        "status": "x", "quoted_status_id": original, "visibility": "direct",
    }), 403)  # fmt: skip
    name = ann.get("/api/v1/accounts/verify_credentials").json()["acct"]
    direct = quote(bob, original, text=f"@{name}", visibility="direct")["id"]
    assert_refused(put(bob, f"{STATUSES}/{direct}", {"status": "behind her back"}), 403)
    assert put(bob, f"{STATUSES}/{direct}", {"status": f"@{name} hi"}).status_code == 200
    drain()
    assert_drained_truth()


def test_who_may_quote(people, ann, bob, cyd, drain):
    follow(people[1], people[0])
    drain()
    ids = {
        policy: ann.post(STATUSES, {"status": policy, "quote_approval_policy": policy}).json()["id"]
        for policy in ("public", "followers", "nobody")
    }
    allowed = {
        name: [
            see(caller, i)["quote_approval"]["current_user"] == "automatic" for i in ids.values()
        ]
        for name, caller in (("ann", ann), ("bob", bob), ("cyd", cyd))
    }
    assert allowed == {"ann": [True] * 3, "bob": [True, True, False], "cyd": [True, False, False]}
    guest = [Client().get(f"{STATUSES}/{i}").json()["quote_approval"] for i in ids.values()]
    assert [each["automatic"] for each in guest] == [["public"], ["followers"], []]
    assert {each["current_user"] for each in guest} == {"denied"}
    for caller, codes in ((ann, (200, 200, 200)), (bob, (200, 200, 403)), (cyd, (200, 403, 403))):
        for post_id, code in zip(ids.values(), codes, strict=True):
            quote(caller, post_id, status=code)
    direct = ann.post(STATUSES, {"status": "to myself", "visibility": "direct"}).json()
    assert direct["quote_approval"]["current_user"] == "denied"
    quote(ann, direct["id"], status=403)


def test_a_repost_says_of_quotes_and_replies_what_its_original_says(people, ann, bob, cyd, drain):
    follow(people[1], people[0])
    drain()
    bob_name = bob.get("/api/v1/accounts/verify_credentials").json()["acct"]
    for policy, on_reply in (
        ("public", "public"),
        ("followers", "mentioned"),
        ("nobody", "nobody"),
    ):
        sent = {"quote_approval_policy": policy, "reply_approval_policy": on_reply}
        post = ann.post(STATUSES, {"status": f"@{bob_name} {policy}", **sent}).json()["id"]
        repost = do(bob, "reblog", post)["id"]
        drain()
        for reader in (ann.client, bob.client, cyd.client, Client()):
            shown = reader.get(f"{STATUSES}/{repost}").json()
            for field in ("quote_approval", "reply_approval"):
                assert shown[field] == shown["reblog"][field], (policy, field)
        expected = 200 if see(cyd, repost)["quote_approval"]["current_user"] == "automatic" else 403
        quote(cyd, repost, status=expected)


def test_the_default_policy(people, ann, bob):
    path = "/api/v1/accounts/update_credentials"
    answer = ann.client.patch(path, {"source": {"quote_policy": "nobody"}}, "application/json")
    assert answer.json()["source"]["quote_policy"] == "nobody"
    assert ann.get("/api/v1/preferences").json()["posting:default:quote_policy"] == "nobody"
    post = ann.post(STATUSES, {"status": "mine"}).json()
    assert post["quote_approval"]["automatic"] == []
    open_post = ann.post(STATUSES, {"status": "all", "quote_approval_policy": "public"}).json()
    assert open_post["quote_approval"]["automatic"] == ["public"]
    answer = ann.client.patch(path, {"source": {"quote_policy": "friends"}}, "application/json")
    assert_refused(answer, 422)


def test_the_policy_changes_later(people, ann, bob, original, drain):
    quoting = quote(bob, original)["id"]
    path = f"{STATUSES}/{original}/interaction_policy"
    changed = put(ann, path, {"quote_approval_policy": "nobody"}).json()
    assert changed["quote_approval"] == {
        "automatic": [], "manual": [], "current_user": "automatic",
    }  # fmt: skip
    assert see(bob, original)["quote_approval"]["current_user"] == "denied"
    quote(bob, original, status=403)
    assert see(bob, quoting)["quote"]["state"] == "accepted"
    assert_refused(put(ann, path, {}), 422)
    assert_refused(put(ann, path, {"quote_approval_policy": "x"}), 422)
    assert_refused(put(bob, path, {"quote_approval_policy": "public"}), 403)
    assert_refused(put(bob, f"{STATUSES}/1/interaction_policy", {}), 404)
    put(ann, f"{STATUSES}/{original}", {"status": "new", "quote_approval_policy": "followers"})
    assert see(bob, original)["quote_approval"]["automatic"] == ["followers"]
    put(ann, f"{STATUSES}/{original}", {"status": "newer"})
    assert see(bob, original)["quote_approval"]["automatic"] == ["followers"]


def test_an_edit_keeps_the_quote(people, ann, bob, original, drain):
    other = publish(people[0], "other").public
    quoting = quote(bob, original)["id"]
    path = f"{STATUSES}/{quoting}"
    edited = put(bob, path, {"status": "", "quoted_status_id": original})
    assert edited.json()["quote"]["quoted_status"]["id"] == original
    assert_refused(put(bob, path, {"status": "x", "quoted_status_id": other}), 422)
    drain()
    assert count_of(ann, original) == 1


def test_the_author_revokes_a_quote(people, ann, bob, cyd, original, drain):
    quoting = quote(bob, original)["id"]
    drain()
    path = f"{STATUSES}/{original}/quotes/{quoting}/revoke"
    assert_refused(bob.post(path), 403)
    assert_refused(ann.post(f"{STATUSES}/{original}/quotes/{original}/revoke"), 404)
    assert see(cyd, quoting)["quote"]["state"] == "accepted"
    assert ann.post(path).json()["quote"] == {"state": "revoked"} | UNSEEN
    assert see(cyd, quoting)["quote"] == see(bob, quoting)["quote"] == {"state": "revoked"} | UNSEEN
    assert quotes_of(cyd, original) == []
    assert ann.post(path).status_code == 200
    drain()
    assert count_of(cyd, original) == 0
    put(bob, f"{STATUSES}/{quoting}", {"status": "still there"})
    bob.delete(f"{STATUSES}/{quoting}")
    drain()
    assert count_of(cyd, original) == 0
    assert_refused(ann.post(path), 404)
    assert_drained_truth()


def test_the_answer_to_a_revocation_shows_nothing_to_a_blocked_author(
    people, ann, bob, original, drain
):
    quoting = quote(bob, original, text="secret")["id"]
    bob.post(f"/api/v1/accounts/{people[0]}/block")
    drain()
    for _ in range(2):
        answer = ann.post(f"{STATUSES}/{original}/quotes/{quoting}/revoke")
        assert answer.status_code == 200 and b"secret" not in answer.content
        assert answer.json()["quote"] == {"state": "revoked"} | UNSEEN
    assert see(bob, quoting)["quote"]["state"] == "revoked"


def moment_of(public):
    post_id = PostId.from_public(public)
    return post_id.moment, post_id.author_id


def test_a_page_of_quotes_with_pending_ones_keeps_its_limit(people, bob, cyd, original, drain):
    recorded = [quote(cyd, original)["id"] for _ in range(3)]
    drain()
    pending = [quote(bob, original)["id"] for _ in range(3)]
    path = f"{STATUSES}/{original}/quotes"
    newest = bob.get(path, {"limit": 4})
    assert ids_of(newest) == sorted([*recorded, *pending], key=moment_of, reverse=True)[:4]
    drain()
    assert {*ids_of(newest), *ids_of(bob.get(next_link(newest)))} == {*recorded, *pending}


def test_bad_input(people, ann, bob, original):
    for wrong in ("nonsense", "1", 0, -1, True, 1.5, ["1"], "9" * 40, original[:-1] + "9"):
        quote(bob, wrong, status=404)
    assert_refused(bob.post(STATUSES, {"status": "x", "quoted_status_id": {}}), 404)
    assert_refused(bob.post(STATUSES, {"status": "x", "quote_approval_policy": 3}), 422)
    ann.post(f"/api/v1/accounts/{people[1]}/block")
    quote(bob, original, status=404)


def test_the_list_of_quotes_in_pages(people, ann, bob, cyd, original, drain):
    ids = [quote(caller, original)["id"] for caller in (bob, cyd, bob, ann)]
    drain()
    newest = ann.get(f"{STATUSES}/{original}/quotes", {"limit": 2})
    older = ann.get(next_link(newest))
    assert {*ids_of(newest), *ids_of(older)} == set(ids)
    assert len(ids_of(older)) == 2 and next_link(older) is None
    assert_refused(ann.get(f"{STATUSES}/{original}/quotes", {"max_id": "!"}), 422)
    assert_refused(Client().get(f"{STATUSES}/{original}/quotes"), 401)


def test_a_page_loads_its_quotes_together(people, ann, bob, original, drain):
    follow(people[1], people[0])
    inner = quote(ann, original)["id"]
    drain()
    bob.get("/api/v1/timelines/home")

    def costs(*quoted):
        for post_id in quoted:
            quote(ann, post_id)
        drain()
        for _ in range(2):
            bob.get("/api/v1/timelines/home")
        with count_calls() as calls:
            assert len(bob.get("/api/v1/timelines/home").json()) >= len(quoted)
        return calls.round_trips, sum(calls.sql.values())

    alone = costs(original)
    assert costs(original, original, original) == alone
    nested = costs(*[inner] * 3)
    assert nested == (alone[0] + 1, alone[1])
    assert alone[1] == 0
