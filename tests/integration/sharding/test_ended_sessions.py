"""A session may end while a statement arrives: nothing fails for it, and nothing is done twice."""

from contextlib import suppress

import pytest
from django.db import DatabaseError, OperationalError, connections, transaction

from infra import moving
from infra.moving import AccountMoving, again_while_moving
from infra.sharding.bounded.ended_sessions import EndedAfterAnswer
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all, fetch_one
from tests.callers import Caller
from tests.ended_sessions import SessionEnder, ender
from tests.waiting import PATIENCE_S
from tests.world import make_accounts, publish

__all__ = ["ender"]
SHARD = "shard0"
MOST_WAITS = 60
END_OWN = "SELECT pg_terminate_backend(pg_backend_pid())"
POSTS = "SELECT count(*) FROM posts_post WHERE author_id = %s"
# The commit itself asks for the end of its session. From there on no part of it looks for that.
LATE = """
CREATE TABLE late_end (id int PRIMARY KEY);
CREATE FUNCTION end_late() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE WHEN pg_terminate_backend(pg_backend_pid()) THEN NULL ELSE NULL END;
END $$;
CREATE CONSTRAINT TRIGGER end_late AFTER INSERT ON late_end DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION end_late()
"""
ADD = "INSERT INTO late_end VALUES (1)"
LOG_ALL = "SET log_min_duration_statement = 0"


@pytest.fixture
def authors(world):
    authors = make_accounts(2)
    posts = [publish(one) for one in authors]
    return authors, posts


def calls(authors, posts):
    (me, you), (mine, yours) = authors, posts
    caller = Caller(me, "read write follow")
    return {
        "post": lambda: caller.post("/api/v1/statuses", {"status": "hello #tea"}),
        "answer": lambda: caller.post(
            "/api/v1/statuses", {"status": "yes", "in_reply_to_id": yours.public}
        ),
        "edit": lambda: caller.client.put(
            f"/api/v1/statuses/{mine.public}", {"status": "edited"}, "application/json"
        ),
        "favourite": lambda: caller.post(f"/api/v1/statuses/{yours.public}/favourite"),
        "repost": lambda: caller.post(f"/api/v1/statuses/{yours.public}/reblog"),
        "follow": lambda: caller.post(f"/api/v1/accounts/{you}/follow"),
        "profile": lambda: caller.client.patch(
            "/api/v1/accounts/update_credentials", {"note": "new"}, "application/json"
        ),
    }


@pytest.mark.parametrize(
    "name", ["post", "answer", "edit", "favourite", "repost", "follow", "profile"]
)
def test_a_session_that_ends_before_any_wait_fails_no_write(authors, ender: SessionEnder, name):
    me = authors[0][0]
    call = calls(*authors)[name]
    before, done = posts_of(me), 0
    for number in range(1, MOST_WAITS):
        with ender.ending(number):
            answer = call()
        assert answer.status_code == 200, (number, answer.content)
        done += 1
        if not ender.was_reached:
            break
    assert 2 < number < MOST_WAITS - 1
    added = {"post": done, "answer": done, "repost": 1}.get(name, 0)
    assert posts_of(me) == before + added


def posts_of(account):
    return fetch_one(shard_of(account), POSTS, (account,))[0]


@pytest.fixture
def late_end(world):
    execute_simply(LATE)
    yield
    connections[SHARD].close()
    execute_simply("DROP TABLE late_end; DROP FUNCTION end_late")


def execute_simply(sql):
    with connections[SHARD].cursor() as cursor:
        cursor.execute(sql)


def in_a_transaction():
    with transaction.atomic(using=SHARD):
        execute_simply(ADD)


def alone():
    execute(SHARD, ADD)


def alone_and_simply():
    execute_simply(ADD)


@pytest.mark.parametrize("add", [in_a_transaction, alone, alone_and_simply])
def test_a_session_that_ends_in_a_commit_answers_first(late_end, add):
    again_while_moving(add, is_read=False)
    # The end itself may arrive only now.
    ids = again_while_moving(lambda: fetch_all(SHARD, "SELECT id FROM late_end"), is_read=True)
    assert ids == [(1,)]


@pytest.mark.parametrize("add", [in_a_transaction, alone_and_simply])
def test_an_end_after_the_answer_may_be_after_the_commit(late_end, add):
    """A slow statement is written to the log after the commit, and there the session may end."""
    execute_simply(LOG_ALL)
    with pytest.raises(OperationalError) as caught:
        again_while_moving(add, is_read=False)
    assert not isinstance(caught.value, AccountMoving)
    assert fetch_all(SHARD, "SELECT id FROM late_end") == [(1,)]


def test_a_read_begins_again_also_after_an_answer(world):
    ends = [f"SELECT 1; {END_OWN}", "SELECT 2"]

    def ask():
        with connections[SHARD].cursor() as cursor:
            cursor.execute(ends.pop(0))
            return cursor.fetchone()

    assert again_while_moving(ask, is_read=True) == (2,)
    ends = [f"SELECT 1; {END_OWN}", "SELECT 2"]
    with pytest.raises(OperationalError) as caught:
        again_while_moving(ask, is_read=False)
    assert isinstance(caught.value.__cause__, EndedAfterAnswer)


def test_an_end_that_is_read_with_the_answer_before_is_known(authors, ender, monkeypatch):
    """libpq takes it for a notice. Within a transaction nothing looks at the socket any more."""
    monkeypatch.setattr(moving, "PATIENCE_S", PATIENCE_S)  # to end all sessions may take seconds
    me = authors[0][0]
    tries = []

    def add():
        with transaction.atomic(using=SHARD):
            execute(SHARD, "SELECT 1")
            if not tries:
                pid = connections[SHARD].connection.info.backend_pid
                ender.end_all()
                session = connections[SHARD].connection.pgconn
                session.consume_input()
                session.notifies()
                assert connections[SHARD].connection.is_over
                assert pid
            tries.append(me)
            return fetch_one(SHARD, "SELECT 5")

    assert again_while_moving(add, is_read=False) == (5,)
    assert len(tries) == 2


def test_other_errors_are_what_they_were(world):
    with pytest.raises(DatabaseError, match="division by zero"):
        execute_simply("SELECT 1; SELECT 1/0")
    with suppress(OperationalError), transaction.atomic(using=SHARD):
        execute_simply(END_OWN)
    assert fetch_one(SHARD, "SELECT 1") == (1,)
