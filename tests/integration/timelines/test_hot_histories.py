"""Authors who become hot and cool in any history: no entry is missing or repeated."""

from hypothesis import given
from hypothesis import strategies as st

from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from posts.ids import EPOCH, PostId
from relations.actions.follow import follow, unfollow
from tests.integration.timelines.drawn import examples, step_of
from tests.integration.timelines.homes import read_from_bottom, read_to_end
from tests.world import clean, drain_all, make_accounts, publish
from timelines.hot.actions.cool import cool_shard

PEOPLE = 5
person = st.integers(0, PEOPLE - 1)
step = st.one_of(
    step_of("publish", person),
    step_of("publish", st.just(0)),
    step_of("follow", person, st.just(0)),
    step_of("unfollow", person, st.just(0)),
    step_of("follow", person, person),
    step_of("read", person),
    step_of("drain"),
    step_of("cool"),
    step_of("flush"),
    step_of("evict", st.sampled_from(["set", "hot_entries", "home"]), person),
)


@examples(40)
@given(steps=st.lists(step, max_size=50))
def test_crossing_either_way_leaves_no_hole_and_no_double(
    world: None, low_threshold: None, tiny_timelines: None, steps: list
) -> None:
    clean()
    people = make_accounts(PEOPLE)
    posts: dict[int, list[PostId]] = {account: [] for account in people}
    following: dict[int, set[int]] = {account: set() for account in people}
    second = iter(range(EPOCH + 100, EPOCH + 1_000))
    for fan in people[1:]:
        follow(fan, people[0])
        following[fan].add(people[0])
    drain_all()
    for name, who, what in steps:
        if name == "publish":
            posts[people[who]].append(publish(people[who], clock_s=lambda: next(second)))
        elif name == "follow" and who != what:
            follow(people[who], people[what])
            following[people[who]].add(people[what])
        elif name == "unfollow":
            unfollow(people[who], people[what])
            following[people[who]].discard(people[what])
        elif name == "read":
            read_to_end(people[who], 3)
        elif name == "drain":
            drain_all()
        elif name == "cool":
            cool_shard(shard_of(people[0]))
        elif name == "flush":
            redis().call("FLUSHDB")
        elif name == "evict":
            family = {"set": "hot:v1:{0}", "hot_entries": f"hot_entries:v1:{{{people[what]}}}"}
            redis().call("DEL", "timelines." + family.get(who, f"home:v1:{{{people[what]}}}"))
    drain_all()
    for reader in people:
        mine = [p for author in (reader, *following[reader]) for p in posts[author]]
        assert read_to_end(reader, 4) == [p.public for p in sorted(mine, reverse=True)]
        assert read_from_bottom(reader, 3) == [p.public for p in sorted(mine, reverse=True)]
