"""Conversations over HTTP: the threads of direct posts, for each account that they are for."""

import pytest

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.conversations.verbs import BackfillConversations
from posts.ids import PostId
from posts.types import Draft, Visibility
from tests.budgets import count_calls
from tests.callers import Caller, next_link
from tests.integration.jobs.outcomes import Outcome
from tests.integration.posts.interacting import STATUSES

LIST = "/api/v1/conversations"
SECOND = 1_800_000_000


@pytest.fixture
def names(people, me, you) -> list[str]:
    return [me.get(f"/api/v1/accounts/{person}").json()["username"] for person in people]


def write(author: int, text: str, thread: str | None = None, **more: object) -> str:
    first = PostId.from_public(thread) if thread else None
    draft = Draft(text, visibility=Visibility.DIRECT, in_reply_to=first, thread=first)
    return create_post(author, draft, **more).public


def shown(caller: Caller, **query: object) -> list[tuple[str, str, bool]]:
    """Conversation, latest post, unread."""
    found = caller.get(LIST, query).json()
    return [(one["id"], one["last_status"]["id"], one["unread"]) for one in found]


def test_a_direct_post_is_a_conversation_of_its_author_and_of_whom_it_mentions(
    people, me, you, names, drain
):
    first = write(people[0], f"@{names[1]} hi")
    assert shown(me) == [(first, first, False)]  # before the drain
    drain()
    assert shown(you) == [(first, first, True)]
    assert shown(Caller(people[2])) == []
    (found,) = you.get(LIST).json()
    assert [one["id"] for one in found["accounts"]] == [str(people[0])]

    answer = write(people[1], f"@{names[0]} hello", first)
    assert shown(you) == [(first, answer, False)]
    drain()
    assert shown(me) == [(first, answer, True)]
    assert me.post(f"{LIST}/{first}/read").json()["unread"] is False
    assert shown(me) == [(first, answer, False)]
    drain()  # again: changes nothing
    assert shown(me) == [(first, answer, False)]


def test_other_posts_are_no_conversations(people, me, names, drain):
    me.post(STATUSES, {"status": f"@{names[1]} in public"})
    drain()
    assert shown(me) == shown(Caller(people[1])) == []


def test_a_deleted_post_leaves_the_one_before_and_the_last_one_ends_it(
    people, me, you, names, drain
):
    first = write(people[0], f"@{names[1]} one")
    second = write(people[0], f"@{names[1]} two", first)
    drain()
    assert shown(you) == [(first, second, True)]
    me.delete(f"{STATUSES}/{second}")
    assert shown(me) == [(first, first, False)]
    drain()
    assert shown(you) == [(first, first, True)]
    me.delete(f"{STATUSES}/{first}")
    drain()
    assert shown(me) == shown(you) == []


def test_an_edit_adds_and_removes_accounts(people, me, you, names, drain):
    first = write(people[0], f"@{names[1]} one")
    drain()
    me.client.put(f"{STATUSES}/{first}", {"status": f"@{names[2]} one"}, "application/json")
    drain()
    assert shown(you) == []
    assert shown(Caller(people[2])) == [(first, first, True)]


def test_a_deleted_conversation_comes_back_with_the_next_post(people, me, you, names, drain):
    first = write(people[0], f"@{names[1]} one")
    drain()
    assert you.delete(f"{LIST}/{first}").json() == {}
    assert you.delete(f"{LIST}/{first}").status_code == 404
    assert you.post(f"{LIST}/{first}/read").status_code == 404
    drain()
    assert shown(you) == []
    second = write(people[0], f"@{names[1]} two", first)
    drain()
    assert shown(you) == [(first, second, True)]


def test_pages_lead_through_all_without_who_is_blocked(people, me, you, names, drain):
    posts = [
        write(people[n % 2 * 2], f"@{names[1]} {n}", clock_s=lambda n=n: SECOND + n)
        for n in range(6)
    ]
    drain()
    found, path = [], f"{LIST}?limit=2"
    while path:
        answer = you.get(path)
        found += [one["id"] for one in answer.json()]
        path = next_link(answer)
    posts.sort(key=int, reverse=True)
    assert found == posts
    with count_calls() as calls:
        you.get(LIST)
    assert calls.sql.total() <= 2
    you.post(f"/api/v1/accounts/{people[2]}/block")
    blocked = [post for post in posts if PostId.from_public(post).author_id == people[2]]
    assert [one[0] for one in shown(you)] == [post for post in posts if post not in blocked]


def test_the_back_fill_finds_what_is_missing(people, me, you, names, drain):
    write(people[0], f"@{names[1]} one")
    drain()
    before = shown(me), shown(you)
    for alias in set(map(shard_of, people)):
        for table in ("conversation", "directpost"):
            execute(alias, f"DELETE FROM conversations_{table}", ())
    assert shown(you) == []
    assert [Outcome(BackfillConversations()).code for _ in range(2)] == [0, 0]
    assert (shown(me), shown(you)) == before


def test_of_one_second_the_post_that_arrived_last_is_the_latest(people, names, drain):
    """Ids of one second are in the order of the authors."""
    low, high = sorted(people[:2])
    reader, name = Caller(high), dict(zip(people, names, strict=True))
    posts = [write(high, f"@{name[low]} one", clock_s=lambda: SECOND)]
    for author, other in ((low, high), (high, low), (low, high)):
        drain()
        posts.append(write(author, f"@{name[other]} more", posts[0], clock_s=lambda: SECOND))
    drain()
    assert shown(reader) == [(posts[0], posts[3], True)]
    assert shown(Caller(low)) == [(posts[0], posts[3], False)]
    for latest in (2, 1, 0):
        Caller(low if latest % 2 == 0 else high).delete(f"{STATUSES}/{posts[latest + 1]}")
        drain()
        for caller in (reader, Caller(low)):
            assert [last for _, last, _ in shown(caller)] == [posts[latest]]


def test_both_sides_keep_the_later_of_two_posts_of_one_second(people, names, drain):
    """Also if one side gets the earlier one after it has written the later one."""
    name = dict(zip(people, names, strict=True))
    for first, second in (sorted(people[:2]), sorted(people[:2], reverse=True)):
        root = write(first, f"@{name[second]} one", clock_s=lambda: SECOND)
        later = write(second, f"@{name[first]} two", root, clock_s=lambda: SECOND)
        drain()
        for person in (first, second):
            assert (root, later) in [one[:2] for one in shown(Caller(person))]


def test_conversations_of_one_second_are_in_the_order_of_arrival(people, names, drain):
    """Ids of one second are in the order of the authors. Pages lead through all, both ways."""
    viewer_id, *others = people[1], people[2], people[0]
    reader, arrived = Caller(viewer_id), []
    for author in (*others, *others):
        arrived.append(write(author, f"@{names[1]} hi", clock_s=lambda: SECOND))
        drain()
    newest_first = arrived[::-1]
    assert [one[1] for one in shown(reader)] == newest_first
    for limit in (1, 3):
        found, path = [], f"{LIST}?limit={limit}"
        while path:
            answer = reader.get(path)
            found += [one["id"] for one in answer.json()]
            path = next_link(answer)
        assert found == newest_first
    for place, post in enumerate(newest_first):
        assert [one[1] for one in shown(reader, min_id=post)] == newest_first[:place]
        assert [one[1] for one in shown(reader, max_id=post)] == newest_first[place + 1 :]
    delete_post(PostId.from_public(newest_first[1]))
    drain()
    assert [one[1] for one in shown(reader)] == [newest_first[0], *newest_first[2:]]
