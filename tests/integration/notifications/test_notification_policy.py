"""The policy of an owner, and the requests of accounts that it filters."""

from accounts.types import Restriction
from tests.callers import assert_refused
from tests.integration.notifications.listing import V1, V2, body, told
from tests.integration.posts.interacting import do
from tests.world import drain_all, restrict

POLICY, REQUESTS = f"{V2}/policy", f"{V1}/requests"
DEFAULT = {
    "for_not_following": "accept",
    "for_not_followers": "accept",
    "for_new_accounts": "accept",
    "for_private_mentions": "filter",
    "for_limited_accounts": "filter",
    "summary": {"pending_requests_count": 0, "pending_notifications_count": 0},
}


def patch(caller, path, sent):
    return caller.client.patch(path, sent, "application/json")


def test_a_policy_filters_or_drops_and_a_request_is_accepted(people, me, you, them, original):
    assert body(me.get(POLICY)) == DEFAULT
    for fan in (you, them):
        do(fan, "favourite", original)
        drain_all()
    do(them, "reblog", original)
    drain_all()
    everything = told(me)
    changed = body(patch(me, POLICY, {"for_not_following": "filter"}))
    pending = {"pending_requests_count": 2, "pending_notifications_count": 3}
    assert changed == DEFAULT | {"for_not_following": "filter", "summary": pending}
    assert body(me.get(f"{V1}/policy"))["filter_not_following"] is True
    assert (told(me), told(me, {"include_filtered": "true"})) == ([], everything)
    assert body(me.get(f"{V1}/unread_count")) == {"count": 0}
    requests = body(me.get(REQUESTS))
    assert [(one["id"], one["notifications_count"]) for one in requests] == [
        (str(people[2]), "2"), (str(people[1]), "1"),
    ]  # fmt: skip
    assert requests[0]["last_status"]["id"] == original
    assert body(me.get(f"{REQUESTS}/{people[2]}")) == requests[0]
    assert_refused(me.get(f"{REQUESTS}/{people[0]}"), 404)
    body(me.post(f"{REQUESTS}/{people[1]}/accept"))
    assert told(me) == everything[2:]
    body(me.post(f"{REQUESTS}/dismiss", {"id": [str(people[2])]}))
    assert body(me.get(REQUESTS)) == []
    body(patch(me, f"{V1}/policy", {"filter_not_following": False}))
    assert told(me) == everything[2:], "what was dismissed stays away"


def test_dropped_ones_are_nowhere_and_nonsense_is_refused(people, me, you, original):
    do(you, "favourite", original)
    drain_all()
    for name in ("for_not_following", "for_not_followers", "for_new_accounts"):
        body(patch(me, POLICY, {name: "drop"}))
        assert (told(me, {"include_filtered": "true"}), body(me.get(REQUESTS))) == ([], []), name
        body(patch(me, POLICY, {name: "accept"}))
        assert len(told(me)) == 1, name
    restrict(people[1], Restriction.LIMITED)
    drain_all()
    assert (told(me), len(body(me.get(REQUESTS)))) == ([], 1)
    body(me.post(f"{REQUESTS}/accept", {"id": str(people[1])}))
    assert len(told(me)) == 1
    assert_refused(patch(me, POLICY, {"for_not_following": "maybe"}), 422)
    assert_refused(patch(me, f"{V1}/policy", {"filter_not_following": "maybe"}), 422)
    assert_refused(me.post(f"{REQUESTS}/accept", {"id": ["x"]}), 422)
    assert_refused(me.post(f"{REQUESTS}/accept", {}), 422)


def test_what_a_policy_shows_stays_when_a_request_is_dismissed(people, me, you, original):
    do(you, "favourite", original)
    drain_all()
    shown = told(me)
    name = body(me.get(f"/api/v1/accounts/{people[0]}"))["acct"]
    body(you.post("/api/v1/statuses", {"status": f"@{name} hello", "visibility": "direct"}))
    drain_all()
    (request,) = body(me.get(REQUESTS))
    body(me.post(f"{REQUESTS}/{request['id']}/dismiss"))
    assert (body(me.get(REQUESTS)), told(me)) == ([], shown)
    assert told(me, {"include_filtered": "true"}) == shown


def test_a_policy_is_changed_by_put_too(people, me):
    """As the `masto` library sends it, which most web clients use. Mastodon accepts both."""
    for path, sent in (
        (POLICY, {"for_not_following": "filter"}),
        (f"{V1}/policy", {"filter_not_followers": True}),
    ):
        body(me.client.put(path, sent, "application/json"))
    found = body(me.get(POLICY))
    assert (found["for_not_following"], found["for_not_followers"]) == ("filter", "filter")
