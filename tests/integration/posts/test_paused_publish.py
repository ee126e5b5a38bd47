"""A process is paused just before it stores the counts of a new post: others may count by then."""

import orjson

from infra.caching.single import SingleClient
from posts.actions.mark_post import mark_post
from posts.cache.counts import post_counts
from posts.ids import PostId
from posts.reading.statuses import load_status_json
from posts.types import Kind
from tests.races import failures, run_together
from tests.world import drain_all, make_accounts, publish


def test_a_favourite_during_the_pause_is_counted(world, monkeypatch):
    author, fan = make_accounts(2)
    run, paused = SingleClient.run, []

    def others_run(post):
        drain_all()
        mark_post(fan, post, Kind.FAVOURITE, True)
        drain_all()

    def run_later(client, commands):
        new = [
            c for c in commands if c[0] == "SET" and c[1].startswith(post_counts.family.encode())
        ]
        if new and not paused:
            paused.append(True)
            moment = int(new[0][1].rpartition(b":")[2])
            assert failures(run_together([lambda: others_run(PostId.at(author, moment))])) == []
        return run(client, commands)

    monkeypatch.setattr(SingleClient, "run", run_later)
    post = publish(author)
    assert paused
    drain_all()
    status = orjson.loads(load_status_json([post], fan)[post])
    assert status["favourites_count"] == 1
