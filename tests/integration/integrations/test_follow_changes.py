"""manage.py follow_changes: events to standard output and to a Redis stream, from run to run."""

import subprocess
import sys
from io import StringIO

import orjson
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from redis import Redis, RedisError

from integrations import sinks
from lab.runner.child import CHECKOUT
from tests.delivered import deliver_all
from tests.integration.integrations.test_events import publish
from tests.other_process import environment_of_this_test
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.usefixtures("world")


def follow(**options):
    out = StringIO()
    call_command("follow_changes", once=True, stdout=out, **options)
    return [orjson.loads(line) for line in out.getvalue().splitlines()]


def created(events):
    return [event["data"]["post_id"] for event in events if event["type"] == "post.created"]


@pytest.fixture(autouse=True)
def quiet(ann):
    deliver_all()


def test_goes_on_where_the_last_run_stopped(ann, tmp_path):
    file = tmp_path / "position"
    assert follow(position_file=file) == []
    posts = [publish(ann) for _ in range(3)]
    deliver_all()
    assert created(follow(position_file=file)) == posts
    assert follow(position_file=file) == []


def test_writes_again_what_it_wrote_before_it_was_killed(ann, tmp_path, monkeypatch):
    file = tmp_path / "position"
    follow(position_file=file)
    post = publish(ann)
    deliver_all()

    class Killed(BaseException):
        pass

    def die(*args):
        raise Killed

    with monkeypatch.context() as dying:
        dying.setattr("integrations.follower.keep_position", die)
        with pytest.raises(Killed):
            follow(position_file=file)
    assert created(follow(position_file=file)) == [post]


def test_to_a_redis_stream(ann):
    url, name = settings.REDIS_URL, "tests-stream"
    if settings.REDIS_CLUSTER:
        pytest.skip("the stream is on a server of its own")
    redis = Redis.from_url(url)
    redis.delete(name)
    post = publish(ann)
    deliver_all()
    follow(after="oldest", redis=url, stream=name)
    entries = [entry for _, entry in redis.xrange(name)]
    assert post in created(orjson.loads(entry[b"event"]) for entry in entries)
    assert {entry[b"type"] for entry in entries} >= {b"post.created"}
    redis.delete(name)


def test_waits_for_a_redis_that_is_away(ann, monkeypatch):
    publish(ann)
    deliver_all()
    write, failures = sinks.LineSink.write, [RedisError("away")]

    def fail_once(self, events):
        if failures:
            raise failures.pop()
        write(self, events)

    monkeypatch.setattr(sinks.LineSink, "write", fail_once)
    monkeypatch.setattr("integrations.management.commands.follow_changes.AWAY_S", 0.01)
    assert follow(after="oldest")
    assert not failures


@pytest.mark.parametrize("text", ["nothing", "\x00", "é"])
def test_a_wrong_position_is_refused(text, tmp_path):
    with pytest.raises(CommandError, match="position"):
        follow(after=text)
    file = tmp_path / "position"
    file.write_text(text)
    with pytest.raises(CommandError, match="position"):
        follow(position_file=file)


def test_a_process_writes_events_as_they_happen_and_ends_on_sigterm(ann, tmp_path):
    argv = [sys.executable, "manage.py", "follow_changes", "--position-file", tmp_path / "position"]
    environment = environment_of_this_test()
    with subprocess.Popen(
        argv, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        until((tmp_path / "position").exists)
        post = publish(ann)
        deliver_all()
        assert created([orjson.loads(process.stdout.readline())]) == [post]
        process.terminate()
        assert process.wait(PATIENCE_S) == 0
