"""Quotes over HTTP: published, shown to each viewer by the rules, counted, revoked."""

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


def test_a_quote_shows_the_whole_quoted_post(people, me, you, them, original, drain):
    quoting = quote(you, original)
    assert quoting["quote"]["state"] == "accepted"
    assert quoting["quote"]["quoted_status"]["content"] == "<p>the original</p>"
    assert quoting["quote"]["quoted_status"]["account"]["id"] == str(people[0])
    drain()
    for viewer in (me, you, them):
        shown = see(viewer, quoting["id"])["quote"]["quoted_status"]
        assert shown["id"] == original and shown["quotes_count"] == 1
    guest = Client().get(f"{STATUSES}/{quoting['id']}").json()
    assert guest["quote"]["quoted_status"]["id"] == original
    assert see(me, original)["quote"] is None
    assert quotes_of(them, original) == [quoting["id"]]
    assert_drained_truth()


def test_a_quote_of_a_quote_names_the_inner_post_only(people, me, you, them, original, drain):
    inner = quote(you, original)["id"]
    outer = quote(them, inner)["id"]
    drain()
    shown = see(me, outer)["quote"]["quoted_status"]
    assert shown["quote"] == {"state": "accepted", "quoted_status_id": original}
    me.post(f"{STATUSES}/{original}/quotes/{inner}/revoke")
    shown = see(me, outer)["quote"]["quoted_status"]
    assert shown["quote"] == {"state": "revoked", "quoted_status_id": None}


def test_a_repost_of_a_quote_and_a_quote_of_a_repost(people, me, you, them, original, drain):
    quoting = quote(you, original)["id"]
    repost = do(them, "reblog", quoting)
    assert repost["reblog"]["quote"]["quoted_status"]["id"] == original
    again = quote(me, repost["id"])
    assert again["quote"]["quoted_status"]["id"] == quoting


def test_a_quote_needs_no_text_and_can_be_a_reply(people, me, you, original, drain):
    quoting = quote(you, original, text="", in_reply_to_id=original)
    assert quoting["in_reply_to_id"] == original and quoting["content"] == ""
    drain()
    seen = see(me, original)
    assert (seen["replies_count"], seen["quotes_count"]) == (1, 1)
    you.delete(f"{STATUSES}/{quoting['id']}")
    drain()
    seen = see(me, original)
    assert (seen["replies_count"], seen["quotes_count"]) == (0, 0)
    assert quotes_of(me, original) == []
    assert_drained_truth()


def test_the_account_that_quotes_sees_it_before_the_drain(people, you, original):
    assert count_of(you, original) == 0
    quoting = quote(you, original)["id"]
    assert count_of(you, original) == 1 and quotes_of(you, original) == [quoting]
    you.delete(f"{STATUSES}/{quoting}")
    assert count_of(you, original) == 0 and quotes_of(you, original) == []


def test_what_the_viewer_may_not_see_is_not_shown(people, me, you, them, original, drain):
    quoting = quote(you, original)["id"]
    drain()

    def state(viewer):
        return see(viewer, quoting)["quote"]

    them.post(f"/api/v1/accounts/{people[0]}/mute")
    assert state(them) == {"state": "muted_account"} | UNSEEN
    them.post(f"/api/v1/accounts/{people[0]}/unmute")
    them.post(f"/api/v1/accounts/{people[0]}/block")
    assert state(them) == {"state": "blocked_account"} | UNSEEN
    them.post(f"/api/v1/accounts/{people[0]}/unblock")
    assert state(them)["state"] == "accepted"
    me.post(f"/api/v1/accounts/{people[2]}/block")
    drain()
    assert state(them) == {"state": "unauthorized"} | UNSEEN
    me.post(f"/api/v1/accounts/{people[2]}/unblock")
    drain()
    hide_post(PostId.from_public(original), NOW, 1)
    assert state(them) == {"state": "deleted"} | UNSEEN
    hide_post(PostId.from_public(original), None, 2)
    assert state(them)["state"] == "accepted"
    restrict(people[0], Restriction.SUSPENDED)
    drain()
    assert state(them) == {"state": "unauthorized"} | UNSEEN
    restrict(people[0], Restriction.NONE)
    drain()
    Caller(people[0]).delete(f"{STATUSES}/{original}")
    assert state(them) == state(you) == {"state": "deleted"} | UNSEEN
    drain()
    assert_drained_truth()


def test_a_private_quoted_post_is_for_its_readers(people, me, you, them, drain):
    follow(people[1], people[0])
    follow(people[2], people[0])
    drain()
    private = me.post(STATUSES, {"status": "psst", "visibility": "private"}).json()["id"]
    quoting = quote(me, private, visibility="public")
    assert quoting["visibility"] == "private"
    assert see(you, quoting["id"])["quote"]["quoted_status"]["id"] == private
    assert_refused(you.post(STATUSES, {"status": "x", "quoted_status_id": private}), 403)
    drain()
    assert count_of(me, private) == 0 and quotes_of(me, private) == []


def test_a_closed_quote_can_be_seen_by_the_quoted_author(people, me, you, them, original, drain):
    quoting = quote(you, original, visibility="private")["id"]
    drain()
    assert see(me, quoting)["quote"]["state"] == "accepted"
    assert them.get(f"{STATUSES}/{quoting}").status_code == 404
    assert count_of(me, original) == 0 and quotes_of(me, original) == []
    assert_refused(you.post(STATUSES, {
        "status": "x", "quoted_status_id": original, "visibility": "direct",
    }), 403)  # fmt: skip
    name = me.get("/api/v1/accounts/verify_credentials").json()["acct"]
    direct = quote(you, original, text=f"@{name}", visibility="direct")["id"]
    assert_refused(put(you, f"{STATUSES}/{direct}", {"status": "behind her back"}), 403)
    assert put(you, f"{STATUSES}/{direct}", {"status": f"@{name} hi"}).status_code == 200
    drain()
    assert_drained_truth()


def test_who_may_quote(people, me, you, them, drain):
    follow(people[1], people[0])
    drain()
    ids = {
        policy: me.post(STATUSES, {"status": policy, "quote_approval_policy": policy}).json()["id"]
        for policy in ("public", "followers", "nobody")
    }
    allowed = {
        name: [
            see(caller, i)["quote_approval"]["current_user"] == "automatic" for i in ids.values()
        ]
        for name, caller in (("ann", me), ("bob", you), ("cyd", them))
    }
    assert allowed == {"ann": [True] * 3, "bob": [True, True, False], "cyd": [True, False, False]}
    guest = [Client().get(f"{STATUSES}/{i}").json()["quote_approval"] for i in ids.values()]
    assert [each["automatic"] for each in guest] == [["public"], ["followers"], []]
    assert {each["current_user"] for each in guest} == {"denied"}
    for caller, codes in ((me, (200, 200, 200)), (you, (200, 200, 403)), (them, (200, 403, 403))):
        for post_id, code in zip(ids.values(), codes, strict=True):
            quote(caller, post_id, status=code)
    direct = me.post(STATUSES, {"status": "to myself", "visibility": "direct"}).json()
    assert direct["quote_approval"]["current_user"] == "denied"
    quote(me, direct["id"], status=403)


def test_a_repost_says_of_quotes_and_replies_what_its_original_says(people, me, you, them, drain):
    follow(people[1], people[0])
    drain()
    bob_name = you.get("/api/v1/accounts/verify_credentials").json()["acct"]
    for policy, on_reply in (
        ("public", "public"),
        ("followers", "mentioned"),
        ("nobody", "nobody"),
    ):
        sent = {"quote_approval_policy": policy, "reply_approval_policy": on_reply}
        post = me.post(STATUSES, {"status": f"@{bob_name} {policy}", **sent}).json()["id"]
        repost = do(you, "reblog", post)["id"]
        drain()
        for reader in (me.client, you.client, them.client, Client()):
            shown = reader.get(f"{STATUSES}/{repost}").json()
            for field in ("quote_approval", "reply_approval"):
                assert shown[field] == shown["reblog"][field], (policy, field)
        expected = (
            200 if see(them, repost)["quote_approval"]["current_user"] == "automatic" else 403
        )
        quote(them, repost, status=expected)


def test_the_default_policy(people, me, you):
    path = "/api/v1/accounts/update_credentials"
    answer = me.client.patch(path, {"source": {"quote_policy": "nobody"}}, "application/json")
    assert answer.json()["source"]["quote_policy"] == "nobody"
    assert me.get("/api/v1/preferences").json()["posting:default:quote_policy"] == "nobody"
    post = me.post(STATUSES, {"status": "mine"}).json()
    assert post["quote_approval"]["automatic"] == []
    open_post = me.post(STATUSES, {"status": "all", "quote_approval_policy": "public"}).json()
    assert open_post["quote_approval"]["automatic"] == ["public"]
    answer = me.client.patch(path, {"source": {"quote_policy": "friends"}}, "application/json")
    assert_refused(answer, 422)


def test_the_policy_changes_later(people, me, you, original, drain):
    quoting = quote(you, original)["id"]
    path = f"{STATUSES}/{original}/interaction_policy"
    changed = put(me, path, {"quote_approval_policy": "nobody"}).json()
    assert changed["quote_approval"] == {
        "automatic": [], "manual": [], "current_user": "automatic",
    }  # fmt: skip
    assert see(you, original)["quote_approval"]["current_user"] == "denied"
    quote(you, original, status=403)
    assert see(you, quoting)["quote"]["state"] == "accepted"
    assert_refused(put(me, path, {}), 422)
    assert_refused(put(me, path, {"quote_approval_policy": "x"}), 422)
    assert_refused(put(you, path, {"quote_approval_policy": "public"}), 403)
    assert_refused(put(you, f"{STATUSES}/1/interaction_policy", {}), 404)
    put(me, f"{STATUSES}/{original}", {"status": "new", "quote_approval_policy": "followers"})
    assert see(you, original)["quote_approval"]["automatic"] == ["followers"]
    put(me, f"{STATUSES}/{original}", {"status": "newer"})
    assert see(you, original)["quote_approval"]["automatic"] == ["followers"]


def test_an_edit_keeps_the_quote(people, me, you, original, drain):
    other = publish(people[0], "other").public
    quoting = quote(you, original)["id"]
    path = f"{STATUSES}/{quoting}"
    edited = put(you, path, {"status": "", "quoted_status_id": original})
    assert edited.json()["quote"]["quoted_status"]["id"] == original
    assert_refused(put(you, path, {"status": "x", "quoted_status_id": other}), 422)
    drain()
    assert count_of(me, original) == 1


def test_the_author_revokes_a_quote(people, me, you, them, original, drain):
    quoting = quote(you, original)["id"]
    drain()
    path = f"{STATUSES}/{original}/quotes/{quoting}/revoke"
    assert_refused(you.post(path), 403)
    assert_refused(me.post(f"{STATUSES}/{original}/quotes/{original}/revoke"), 404)
    assert see(them, quoting)["quote"]["state"] == "accepted"
    assert me.post(path).json()["quote"] == {"state": "revoked"} | UNSEEN
    assert (
        see(them, quoting)["quote"] == see(you, quoting)["quote"] == {"state": "revoked"} | UNSEEN
    )
    assert quotes_of(them, original) == []
    assert me.post(path).status_code == 200
    drain()
    assert count_of(them, original) == 0
    put(you, f"{STATUSES}/{quoting}", {"status": "still there"})
    you.delete(f"{STATUSES}/{quoting}")
    drain()
    assert count_of(them, original) == 0
    assert_refused(me.post(path), 404)
    assert_drained_truth()


def test_the_answer_to_a_revocation_shows_nothing_to_a_blocked_author(
    people, me, you, original, drain
):
    quoting = quote(you, original, text="secret")["id"]
    you.post(f"/api/v1/accounts/{people[0]}/block")
    drain()
    for _ in range(2):
        answer = me.post(f"{STATUSES}/{original}/quotes/{quoting}/revoke")
        assert answer.status_code == 200 and b"secret" not in answer.content
        assert answer.json()["quote"] == {"state": "revoked"} | UNSEEN
    assert see(you, quoting)["quote"]["state"] == "revoked"


def moment_of(public):
    post_id = PostId.from_public(public)
    return post_id.moment, post_id.author_id


def test_a_page_of_quotes_with_pending_ones_keeps_its_limit(people, you, them, original, drain):
    recorded = [quote(them, original)["id"] for _ in range(3)]
    drain()
    pending = [quote(you, original)["id"] for _ in range(3)]
    path = f"{STATUSES}/{original}/quotes"
    newest = you.get(path, {"limit": 4})
    assert ids_of(newest) == sorted([*recorded, *pending], key=moment_of, reverse=True)[:4]
    drain()
    assert {*ids_of(newest), *ids_of(you.get(next_link(newest)))} == {*recorded, *pending}


def test_bad_input(people, me, you, original):
    for wrong in ("nonsense", "1", 0, -1, True, 1.5, ["1"], "9" * 40, original[:-1] + "9"):
        quote(you, wrong, status=404)
    assert_refused(you.post(STATUSES, {"status": "x", "quoted_status_id": {}}), 404)
    assert_refused(you.post(STATUSES, {"status": "x", "quote_approval_policy": 3}), 422)
    me.post(f"/api/v1/accounts/{people[1]}/block")
    quote(you, original, status=404)


def test_the_list_of_quotes_in_pages(people, me, you, them, original, drain):
    ids = [quote(caller, original)["id"] for caller in (you, them, you, me)]
    drain()
    newest = me.get(f"{STATUSES}/{original}/quotes", {"limit": 2})
    older = me.get(next_link(newest))
    assert {*ids_of(newest), *ids_of(older)} == set(ids)
    assert len(ids_of(older)) == 2 and next_link(older) is None
    assert_refused(me.get(f"{STATUSES}/{original}/quotes", {"max_id": "!"}), 422)
    assert_refused(Client().get(f"{STATUSES}/{original}/quotes"), 401)


def test_a_page_loads_its_quotes_together(people, me, you, original, drain):
    follow(people[1], people[0])
    inner = quote(me, original)["id"]
    drain()
    you.get("/api/v1/timelines/home")

    def costs(*quoted):
        for post_id in quoted:
            quote(me, post_id)
        drain()
        for _ in range(2):
            you.get("/api/v1/timelines/home")
        with count_calls() as calls:
            assert len(you.get("/api/v1/timelines/home").json()) >= len(quoted)
        return calls.round_trips, sum(calls.sql.values())

    alone = costs(original)
    assert costs(original, original, original) == alone
    nested = costs(*[inner] * 3)
    assert nested == (alone[0] + 1, alone[1])
    assert alone[1] == 0
