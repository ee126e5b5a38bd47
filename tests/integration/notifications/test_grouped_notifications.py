"""Version 2 of the notifications: groups, their pages, and what is done to a whole group.

The policy of an owner, and the requests of accounts that it filters.
"""

from accounts.types import Restriction
from tests.callers import Caller, assert_refused, next_link
from tests.integration.notifications.listing import V1, V2, body, told
from tests.integration.posts.interacting import do, reply
from tests.world import drain_all, make_accounts, publish, restrict


def groups(caller: Caller, query: object = None) -> list[tuple[str, int, str | None]]:
    found = body(caller.get(V2, query))
    return [
        (one["type"], one["notifications_count"], one.get("status_id"))
        for one in found["notification_groups"]
    ]


def test_groups_have_what_belongs_together(people, me, original):
    other = publish(people[0]).public
    fans = [Caller(one) for one in make_accounts(3)]
    for fan in fans:
        do(fan, "favourite", original)
        drain_all()
    do(fans[0], "favourite", other)
    drain_all()
    reply(fans[1], original)
    answer = reply(fans[1], original)["id"]
    drain_all()
    assert groups(me)[0] == ("mention", 1, answer), "a mention is a group by itself"
    assert groups(me)[2:] == [("favourite", 1, other), ("favourite", 3, original)]
    found = body(me.get(V2))
    last = found["notification_groups"][3]
    ids = [one["id"] for one in body(me.get(V1))]
    assert (last["page_max_id"], last["page_min_id"]) == (ids[3], ids[5])
    assert str(last["most_recent_notification_id"]) == ids[3]
    assert last["sample_account_ids"] == [one[1] for one in told(me)[3:]]
    assert {one["id"] for one in found["accounts"]} == {*last["sample_account_ids"]}
    assert len(found["statuses"]) == 4
    partial = body(me.get(V2, {"expand_accounts": "partial_avatars", "types[]": "favourite"}))
    assert len(partial["accounts"]) + len(partial["partial_accounts"]) == 3
    assert set(partial["partial_accounts"][0]) >= {"id", "acct", "avatar"}
    assert_refused(me.get(V2, {"expand_accounts": "none"}), 422)
    assert body(me.get(f"{V2}/unread_count")) == {"count": 4}
    assert len(groups(me, {"grouped_types[]": "follow"})) == 6
    for path in (V1, V2):
        answer = me.get(path, {"supported_types[]": ["mention", "sunrise"], "limit": 2})
        assert answer.json() == me.get(path, {"limit": 2}).json(), "no type needs a fallback"
        assert b"fallback" not in answer.content
        assert "supported_types%5B%5D=mention&supported_types%5B%5D=sunrise" in answer["Link"]
    _a_group_is_read_and_dismissed(me, last)


def _a_group_is_read_and_dismissed(me, wanted):
    one = f"{V2}/{wanted['group_key']}"
    assert body(me.get(one))["notification_groups"] == [wanted]
    accounts = [account["id"] for account in body(me.get(f"{one}/accounts"))]
    assert accounts == wanted["sample_account_ids"]
    assert body(me.post(f"{one}/dismiss")) == {}
    assert_refused(me.get(one), 404)
    assert len(groups(me)) == 3
    for broken in ("favourite", "favourite-1", "follow-x", "ungrouped-", "1-13-13", "9" * 50):
        assert_refused(me.get(f"{V2}/{broken}"), 404)
    assert_refused(me.get(f"{V2}/follow-{'9' * 39}"), 404)


def test_pages_of_groups_meet(people, me, you, them):
    for _ in range(5):
        post = publish(people[0]).public
        do(you, "favourite", post)
        do(them, "favourite", post)
        drain_all()
    everything = groups(me)
    assert [one[1] for one in everything] == [2] * 5
    pages, path = [], f"{V2}?limit=2"
    while path:
        answer = me.get(path)
        pages.append(body(answer)["notification_groups"])
        path = next_link(answer)
    found = [
        (one["type"], one["notifications_count"], one["status_id"]) for p in pages for one in p
    ]
    assert found == everything
    oldest = pages[-1][-1]["page_min_id"]
    newer = groups(me, {"min_id": str(int(oldest) - 1), "limit": 2})
    assert newer == everything[-2:]


def test_a_group_on_two_pages_has_all_its_notifications_on_both(people, me, you, them):
    one, other = (publish(people[0]).public for _ in range(2))
    for who, post in ((you, one), (you, other), (them, one)):
        do(who, "favourite", post)
        drain_all()
    pages, path = [], f"{V2}?limit=1"
    while path:
        answer = me.get(path)
        pages += body(answer)["notification_groups"]
        path = next_link(answer)
    first, between, second = pages
    assert (first["status_id"], between["status_id"], second["status_id"]) == (one, other, one)
    assert [page["notifications_count"] for page in pages] == [2, 1, 2]
    assert first["sample_account_ids"] == second["sample_account_ids"]
    assert first["most_recent_notification_id"] == second["most_recent_notification_id"]
    assert first["page_min_id"] == first["page_max_id"] != second["page_max_id"]
    newer = body(me.get(f"{V2}?min_id={second['page_max_id']}&limit=1"))["notification_groups"]
    assert [page["notifications_count"] for page in newer] == [1]


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
