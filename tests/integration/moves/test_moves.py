"""Moves of buckets while people read and write: nothing is lost, refused or left behind."""

import json
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import OperationalError

from config.periodic import PERIODIC_TASKS
from infra.moving import AccountMoving
from infra.sharding.bounded.breaker import reset_breakers
from infra.sharding.buckets import shard_of
from infra.sharding.placement import is_allowed
from infra.sharding.sql import execute, fetch_all, fetch_one
from operations.moves.errors import MoveLost
from operations.moves.models import Move
from operations.moves.periodic import finish_interrupted_switch
from operations.moves.verbs.moves import MoveCommand
from posts.actions.create_post import create_post
from posts.actions.end_polls import end_polls
from posts.actions.vote import delete_voters
from posts.scheduled.actions.publish_due import publish_due
from posts.types import Draft, NewPoll
from tests.api_process import ApiProcess
from tests.callers import Caller, token_of
from tests.dying import Killed, armed, die
from tests.integration.moves.writers import Writer, drain_patiently, make_friends
from tests.moving import (
    SOURCE,
    TARGET,
    compare_shards,
    list_leftovers,
    move,
    repeating,
)
from tests.private_world import catch_up
from tests.server_faults import hanging, kill
from tests.waiting import until
from tests.world import drain_all, publish

pytestmark = pytest.mark.slow
MINUTE_MS = 60_000
POSTS = "SELECT count(*) FROM posts_post WHERE author_id = %s"
PUBLIC_ID = "SELECT author_id, moment FROM posts_post WHERE author_id = ANY(%s)"


@pytest.fixture
def friends(moving):
    return make_friends("hello #tea")


def test_a_quarter_moves_there_and_back_under_load(friends, capsys):
    """And there once more, for good. Each web process has a copy of the map of its own."""
    movers, stayers = friends[:2], friends[2:]
    with ExitStack() as stack:
        writers = [
            Writer(account, token_of(account), stack.enter_context(ApiProcess()))
            for account in friends
        ]
        with repeating(*(writer.act for writer in writers), drain_patiently) as errors:
            move()
            moved_at = [len(writer.posted) for writer in writers]
            call_command("moves", "undo")
            move()
            end = threading.Event()
            end.wait(0.3)
        assert errors == []
        catch_up()
        assert compare_shards() > len(movers)
        call_command("moves", "complete")
    assert all(moved_at), "everybody wrote before the move ended"
    assert {shard_of(mover) for mover in movers} == {TARGET}
    assert TARGET not in {shard_of(stayer) for stayer in stayers if stayer & 3 == 0}
    for writer in writers:
        there = {str(row) for row in _public_ids(writer.account)}
        assert {*writer.posted} <= there
        home = _home_of(friends[0] if writer.account != friends[0] else friends[1])
        assert {*writer.posted[-3:]} <= home
    assert [fetch_one(SOURCE, POSTS, (mover,)) for mover in movers] == [(0,), (0,)]
    assert list_leftovers() == []
    assert "writes waited" in capsys.readouterr().out


def _public_ids(account):
    statuses = Caller(account).get(f"/api/v1/accounts/{account}/statuses?limit=40").json()
    ids = [status["id"] for status in statuses]
    while statuses:
        path = f"/api/v1/accounts/{account}/statuses?limit=40&max_id={ids[-1]}"
        statuses = Caller(account).get(path).json()
        ids += [status["id"] for status in statuses]
    return ids


def _home_of(account):
    ids, path = set(), "/api/v1/timelines/home?limit=40"
    for _ in range(20):
        page = Caller(account).get(path).json()
        if not page:
            break
        ids |= {status["id"] for status in page}
        path = f"/api/v1/timelines/home?limit=40&max_id={page[-1]['id']}"
    return ids


SWITCH = (
    "moves.closed",
    "moves.applied",
    "moves.handed_over",
    "moves.closed_for_good",
    "moves.flipped",
)


def killed_everywhere(begin, go_on):
    """Runs a command, which dies after each step, before and after it is recorded, and at each
    place of the switch."""
    command, deaths = begin, 0
    places = list(SWITCH)
    step = None
    while True:
        try:
            with ExitStack() as stack:
                if places:
                    stack.enter_context(armed(places[0], partial(_reach, places)))
                stack.enter_context(armed("moves.step_done", partial(_die_first, step)))
                stack.enter_context(armed("moves.step_recorded", die))
                command()
            return deaths
        except Killed:
            deaths += 1
            last = Move.objects.latest("pk")
            step = last.step if last.step != step else f"again {last.step}"
            command = go_on
            if last.is_finished:
                return deaths


def _reach(places):
    places.pop(0)
    die()


def _die_first(step):
    """Before a step is recorded, it dies the first time only."""
    if step is None or not step.startswith("again "):
        die()


def resume():
    call_command("moves", "resume")


def test_a_move_that_is_killed_everywhere_goes_on(friends):
    assert killed_everywhere(move, resume) > 16
    resume()
    assert {shard_of(mover) for mover in friends[:2]} == {TARGET}
    after = publish(friends[0], "after")
    drain_all()
    assert killed_everywhere(partial(call_command, "moves", "undo"), resume) > 8
    assert {shard_of(mover) for mover in friends[:2]} == {SOURCE}
    assert after.number and fetch_one(SOURCE, POSTS, (friends[0],)) == (2,)
    assert fetch_one(TARGET, POSTS, (friends[0],)) == (0,)
    assert list_leftovers() == []


def test_abort_and_complete_go_on_too(friends):
    with pytest.raises(Killed), armed("moves.handed_over", die):
        move()
    assert killed_everywhere(partial(call_command, "moves", "abort"), resume) >= 4
    assert list_leftovers() == []
    assert fetch_one(TARGET, POSTS, (friends[0],)) == (0,)
    publish(friends[0], "goes on")
    move()
    assert killed_everywhere(partial(call_command, "moves", "complete"), resume) >= 3
    assert list_leftovers() == []
    assert fetch_one(SOURCE, POSTS, (friends[0],)) == (0,)
    assert fetch_one(TARGET, POSTS, (friends[0],)) == (2,)


def test_a_fence_whose_process_died_opens_again(friends, monkeypatch):
    monkeypatch.setattr("infra.moving.PATIENCE_S", 20.0)
    monkeypatch.setattr(
        "operations.moves.guard.CLOSE_FOR_A_WHILE",
        "UPDATE moves_guard SET closed_until = clock_timestamp() + interval '1 s'"
        " WHERE move = %s AND token = %s",
    )
    with pytest.raises(Killed), armed("moves.closed", die):
        move()
    assert Caller(friends[0]).post("/api/v1/statuses", {"status": "later"}).status_code == 200
    assert shard_of(friends[0]) == SOURCE


@pytest.mark.parametrize(
    ("place", "shard"), [("moves.closed_for_good", SOURCE), ("moves.flipped", TARGET)]
)
def test_a_switch_whose_process_died_is_finished(friends, place, shard):
    """By the compensator. The accounts write again before anybody resumes the move."""
    begun = partial(call_command, "moves", "undo")
    for command, there in ((move, shard), (begun, {SOURCE: TARGET, TARGET: SOURCE}[shard])):
        with pytest.raises(Killed), armed(place, die):
            command()
        with pytest.raises(AccountMoving):
            publish(friends[0])
        finish_interrupted_switch("default")
        assert shard_of(friends[0]) == there
        publish(friends[0], "goes on")
        resume()
    assert list_leftovers() == []


def test_a_switch_whose_process_works_is_left_alone(friends):
    with armed("moves.closed_for_good", partial(finish_interrupted_switch, "default")):
        move()
    assert shard_of(friends[0]) == TARGET


def test_one_process_at_a_time_works_on_moves(friends):
    refused = []

    def second():
        with pytest.raises(CommandError, match="runs already") as caught:
            resume()
        refused.append(caught.value)

    with armed("moves.closed", second):
        move()
    assert len(refused) == 1


@pytest.mark.parametrize("place", ["moves.applied", "moves.handed_over"])
def test_a_process_that_was_replaced_changes_nothing_more(friends, place):
    """As if it had slept in the middle of the switch, and its lock had been lost."""

    def replaced():
        with armed(place, lambda: None):
            list(MoveCommand().go_on(Move.objects.get(is_finished=False)))
        publish(friends[0], "by the successor")

    with pytest.raises(MoveLost), armed(place, replaced):
        move()
    assert shard_of(friends[0]) == TARGET
    publish(friends[0], "still open")
    drain_all()
    assert compare_shards() > 0


def test_a_process_that_slept_reads_the_new_shard(friends):
    """Its session on the source ended, and the next one tells it of the map."""
    mover, path = friends[0], "/api/v1/markers?timeline[]=notifications"
    token = token_of(mover)
    body = {"notifications": {"last_read_id": "5"}}
    with ApiProcess() as process:
        process.do("GET", token, path)
        move()
        assert Caller(mover).post("/api/v1/markers", body).status_code == 200
        assert fetch_one(TARGET, "SELECT count(*) FROM markers_marker") == (1,)
        status, text = process.do("GET", token, path)
    assert (status, json.loads(text)["notifications"]["last_read_id"]) == (200, "5")


def test_undelivered_changes_are_handed_over(friends, monkeypatch):
    """Of a big fan-out, too, whose pieces name shards."""
    for name in ("INLINE_FOLLOWERS", "CHUNK_FOLLOWERS"):
        monkeypatch.setattr(settings, name, 1)
    post = publish(friends[0], "in between")
    move()
    assert fetch_one(SOURCE, "SELECT count(*) FROM changes_change") == (0,)
    assert fetch_all(TARGET, "SELECT owner_id FROM changes_change") == [(friends[0],)]
    catch_up()
    for reader in friends[1:]:
        assert post.public in _home_of(reader) or post.routed in _home_of(reader)


def test_periodic_tasks_pass_over_the_copies(friends):
    """On both shards, before and after the switch: a guard would end the whole task."""
    for hours in (1, 2):
        poll = NewPoll(("tea", "milk"), False, False, int(time.time()) + hours * 3_600)
        post = create_post(friends[0], Draft("which?", poll=poll))
        answer = Caller(friends[2]).post(f"/api/v1/polls/{post.public}/votes", {"choices": [0]})
        assert answer.status_code == 200
    catch_up()
    ends = [5_400, 9_000]

    def run_all():
        end_s = time.time() + ends.pop(0)
        for alias in (SOURCE, TARGET):
            for task in PERIODIC_TASKS:
                if is_allowed(task.placement, alias):
                    task.function(alias)
            end_polls(alias, end_s)
        for alias in settings.SHARD_ALIASES:
            delete_voters(alias, friends[2])

    with armed("moves.step_recorded", _at("copied", run_all)):
        move()
    run_all()
    catch_up()
    assert compare_shards() > 0
    ended = "SELECT count(*) FROM posts_post WHERE is_end_reported"
    assert fetch_one(TARGET, ended) == (2,)


def test_scheduled_posts_move_and_each_is_published_once(friends):
    """One in the middle of the move by the shard that it leaves, one after it by the other."""
    author, now_ms = friends[0], time.time_ns() // 1_000_000
    soon, later = now_ms + 10 * MINUTE_MS, now_ms + 60 * MINUTE_MS
    for text, at_ms in (("soon", soon), ("later", later)):
        due = datetime.fromtimestamp(at_ms / 1000, UTC).isoformat()
        sent = {"status": text, "scheduled_at": due}
        assert Caller(author).post("/api/v1/statuses", sent).status_code == 200
    published = []

    def publish_soon():
        published.extend(publish_due(alias, soon + 1) for alias in (TARGET, SOURCE))

    with armed("moves.step_recorded", _at("copied", publish_soon)):
        move()
    assert published == [0, 1], "a copy is not published"
    assert [publish_due(alias, later + 1) for alias in (SOURCE, TARGET)] == [0, 1]
    assert [publish_due(alias, later + 1) for alias in (SOURCE, TARGET)] == [0, 0]
    catch_up()
    assert Caller(author).get("/api/v1/scheduled_statuses").json() == []
    texts = "SELECT text FROM posts_post WHERE author_id = %s AND text = ANY(%s) ORDER BY text"
    assert fetch_all(TARGET, texts, (author, ["soon", "later"])) == [("later",), ("soon",)]


def test_a_target_that_hangs_can_be_given_up(moving, friends):
    """The source goes on at once, and keeps no log. The rest is done when the target is back."""
    with pytest.raises(Killed), armed("moves.step_recorded", _die_at("published")):
        move()
    with hanging(moving.postgres[TARGET]):
        with pytest.raises(OperationalError):
            call_command("moves", "abort")
        assert fetch_all(SOURCE, "SELECT slot_name FROM pg_replication_slots") == []
        publish(friends[0], "goes on")
    reset_breakers()
    resume()
    assert list_leftovers() == []


def test_a_slot_that_lost_its_log_ends_the_move(moving, friends):
    with pytest.raises(Killed), armed("moves.step_recorded", _die_at("published")):
        move()
    kill(moving.postgres[TARGET])
    execute(SOURCE, "ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'")
    fetch_one(SOURCE, "SELECT pg_reload_conf()")
    until(partial(_has_lost_log, friends[0]))
    execute(SOURCE, "ALTER SYSTEM RESET max_slot_wal_keep_size")
    moving.postgres[TARGET].start()
    with pytest.raises(CommandError, match="abort"):
        resume()
    call_command("moves", "abort")
    assert list_leftovers() == []


def _has_lost_log(account):
    publish(account, "more log")
    fetch_one(SOURCE, "SELECT pg_switch_wal()")
    execute(SOURCE, "CHECKPOINT")
    return fetch_all(SOURCE, "SELECT DISTINCT wal_status FROM pg_replication_slots") == [("lost",)]


def _die_at(step):
    return _at(step, die)


def _at(step, action):
    def look():
        if Move.objects.latest("pk").step == step:
            action()

    return look
