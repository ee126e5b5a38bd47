"""The page that compares a stored home with the computed one, and its repair button."""

from functools import partial

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.sharding.buckets import shard_of
from operations.queries import home as module
from operations.queries.home import BEYOND, DEAD, MISSING, MOVING, PAGE, page_of_lines, read_home
from posts.actions.delete_post import delete_post
from posts.ids import EPOCH
from posts.models import Post
from tests.budgets import count_calls
from tests.integration.timelines.broken_timelines import add_below_the_mark, lose
from tests.integration.timelines.homes import first_page
from tests.people import cast
from tests.world import drain_all, find_live, make_account, publish

people = cast(2, follows=1)


def posts_of(author, count):
    return [publish(author, clock_s=partial(float, EPOCH + 10_000 + n)) for n in range(count)]


def read(browser, reader, **query):
    answer = browser.get(reverse("home_timeline", args=[reader]), query)
    assert answer.status_code == 200
    return answer


def text_of(answer):
    return " ".join(answer.content.decode().split())


def differences(reader):
    return {
        line.entry.event: line.difference for line in read_home(reader).lines if line.difference
    }


def test_what_is_right_says_so(operator, people):
    reader, followee = people
    posts = posts_of(followee, 3)
    drain_all()
    first_page(reader)
    page = text_of(read(operator, reader))
    assert '<th scope="row">Difference</th><td>none</td>' in page
    assert [page.index(post.public) for post in posts] == sorted(
        (page.index(post.public) for post in posts), reverse=True
    )
    assert differences(reader) == {}


def test_what_differs_is_told_and_mended(operator, people):
    reader, followee = people
    lost, dead, kept = posts_of(followee, 3)
    drain_all()
    first_page(reader)
    lose(reader, [lost])
    # As if the change that tells of it had been thrown away.
    Post.objects.of(followee).filter(moment=dead.moment).delete()
    assert differences(reader) == {lost: MISSING, dead: DEAD}
    assert "1 missing, 1 dead, 0 below the low-water mark" in text_of(read(operator, reader))
    answer = operator.post(reverse("rebuild_home", args=[reader]), follow=True)
    assert f"+ {lost.public}" in text_of(answer)
    assert f"- {dead.public}" in text_of(answer)
    assert differences(reader) == {}
    assert LogEntry.objects.get().change_message == "Rebuilt"
    answer = operator.post(reverse("rebuild_home", args=[reader]), follow=True)
    assert "Nothing to repair" in text_of(answer)
    live = find_live(reader)
    assert live is not None
    assert {kept, lost} == {line.entry.event for line in read_home(reader).lines}


def test_what_waits_is_not_wrong(operator, people):
    reader, followee = people
    first_page(reader)
    post = publish(followee)
    assert differences(reader) == {post: MOVING}
    drain_all()
    assert differences(reader) == {}


def test_what_is_below_the_mark(operator, people):
    reader, followee = people
    old, new = posts_of(followee, 2)
    drain_all()
    first_page(reader)
    lose(reader, [old])
    add_below_the_mark(reader, old, mark=new.second)
    assert differences(reader) == {old: BEYOND}


def test_reader_who_is_not_live_has_nothing_stored(operator, people):
    reader, _ = people
    page = text_of(read(operator, reader))
    assert "the account is not a live reader" in page
    assert 'value="Rebuild"' not in page
    answer = operator.post(reverse("rebuild_home", args=[reader]), follow=True)
    assert "Nothing is stored" in text_of(answer)
    assert find_live(reader) is None


def test_looking_keeps_nothing_alive_and_lays_nothing(operator, people):
    reader, _ = people
    read(operator, reader)
    assert find_live(reader) is None


def test_pages_go_on_where_the_last_one_ended(operator, people):
    reader, followee = people
    posts = posts_of(followee, PAGE + 5)
    drain_all()
    first_page(reader)
    first = read(operator, reader)
    older = first.context["older"]
    second = read(operator, reader, below=older.public)
    shown = [line.entry.event for page in (first, second) for line in page.context["lines"]]
    assert shown == posts[::-1]
    assert second.context["older"] is None
    assert page_of_lines([], None) == ([], None)


@pytest.mark.parametrize("below", ["x", "\x00", "1" * 300, "-1"])
def test_a_cursor_that_is_none_leads_to_the_first_page(operator, people, below):
    reader, followee = people
    posts_of(followee, 2)
    answer = read(operator, reader, below=below)
    assert "No page begins there" in text_of(answer)
    assert len(answer.context["lines"]) == 2


def test_without_redis_the_computed_side_is_shown(operator, people, monkeypatch):
    reader, followee = people
    (post,) = posts_of(followee, 1)

    def refuse(*_):
        raise RedisConnectionError("refused")

    monkeypatch.setattr(module, "_peek", refuse)
    monkeypatch.setattr(module, "_hot_authors", refuse)
    page = text_of(read(operator, reader))
    assert "the timeline store does not answer: refused" in page
    assert post.public in page


def test_a_shard_down_leaves_what_is_stored(operator, people, take_down, monkeypatch):
    reader, followee = people
    (post,) = posts_of(followee, 1)
    drain_all()
    first_page(reader)

    def fail(*_):
        raise ConnectionError(f"{shard_of(followee)} refused")

    monkeypatch.setattr(module, "compute_timeline", fail)
    page = text_of(read(operator, reader))
    assert "a shard of a followee does not answer" in page
    assert post.public in page


def test_no_such_account(operator):
    assert operator.get(f"/admin/find/account/{2**64}/home/").status_code == 404
    assert operator.get(reverse("home_timeline", args=[999_999])).status_code == 404


def test_rebuilding_is_posted_with_a_token(operator, people):
    reader, _ = people
    where = reverse("rebuild_home", args=[reader])
    assert operator.get(where).status_code == 405
    careful = Client(enforce_csrf_checks=True)
    careful.cookies = operator.cookies
    assert careful.post(where).status_code == 403


def test_what_a_look_costs(operator, people):
    reader, followee = people
    posts_of(followee, 3)
    drain_all()
    first_page(reader)
    read(operator, reader)
    with count_calls() as calls:
        read_home(reader)
    # The two shards of those in the circle, for what is computed and what is compared.
    assert sum(calls.sql.values()) <= 8
    assert calls.round_trips <= 10
    assert not any("count(" in one.sql.lower() for one in calls.statements)


def test_an_account_without_anything(operator):
    nobody = make_account()
    assert "No entries." in text_of(read(operator, nobody))


def test_deleted_posts_leave_both_sides(operator, people):
    reader, followee = people
    (post,) = posts_of(followee, 1)
    drain_all()
    first_page(reader)
    delete_post(post)
    drain_all()
    # What is deleted is taken from indexes; the live timeline may keep a dead entry.
    assert set(differences(reader).values()) <= {DEAD}
