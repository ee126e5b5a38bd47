"""audit tags and audit recent-posts compare the indexes with the posts, both ways."""

from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings

from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost, undo_repost
from posts.ids import PostId
from posts.queries.responses import find_live_posts
from tests.callers import Caller, ids_of
from tests.integration.jobs.lost_rows import at_rest, lose_deletion, lose_post
from tests.integration.jobs.outcomes import Outcome
from tests.integration.posts.interacting import STATUSES
from tests.integration.timelines.indexed import complete_index
from tests.people import cast
from tests.world import drain_all, publish
from timelines.jobs.end_lost_deletions import end_lost_deletions
from timelines.recent.packs import load_packs
from timelines.recent.records import Arrivals
from timelines.verbs import AuditRecentPosts, AuditTags, BackfillRecentPosts

pytestmark = pytest.mark.usefixtures("at_rest")
__all__ = ["at_rest"]


people = cast(4)


@pytest.fixture(autouse=True)
def filled(world):
    assert Outcome(BackfillRecentPosts()).code == 0


def repair(command, lines: list[str]) -> None:
    """The differences are named, and repaired once."""
    assert sorted(Outcome(command()).out.splitlines()[:-1]) == sorted(lines)
    repaired = Outcome(command(), "--repair")
    assert repaired.code == 0
    assert sorted(repaired.out.splitlines()[:-1]) == sorted(f"{one}: repaired" for one in lines)
    drain_all()
    assert Outcome(command()).code == 0


@pytest.fixture
def tagged(people):
    """A client of the author, and a post with #tea."""
    author = Caller(people[0])
    post = author.post(STATUSES, {"status": "#tea"}).json()["id"]
    drain_all()
    assert tea(author) == [post]
    return author, post


def tea(caller: Caller) -> list[str]:
    return ids_of(caller.get("/api/v1/timelines/tag/tea"))


def test_lost_post_leaves_the_tag_index(tagged, people):
    _, post = tagged
    lose_post(PostId.from_public(post))
    repair(AuditTags, [f"account {people[0]}: post {post} with #tea was lost"])
    assert rows_of("tags_taggedpost") == []


def test_tag_that_a_post_has_no_longer_leaves_the_index(tagged, people):
    """The shard was restored to before an edit that added the tag."""
    _, post = tagged
    sql = "UPDATE posts_post SET tags = '{coffee}' WHERE author_id = %s"
    execute(shard_of(people[0]), sql, (people[0],))
    line = f"account {people[0]}: "
    indexed = f"{line}post {post} with #tea is no longer so, and still indexed"
    repair(AuditTags, [indexed, f"{line}tags of post {post} are not indexed"])


def test_post_that_the_tag_index_lacks_is_added(tagged, people):
    author, post = tagged
    for alias in settings.SHARD_ALIASES:
        execute(alias, "DELETE FROM tags_taggedpost")
    repair(AuditTags, [f"account {people[0]}: tags of post {post} are not indexed"])
    assert tea(author) == [post]


def rows_of(table: str) -> list[tuple[object, ...]]:
    return [row for alias in settings.SHARD_ALIASES for row in fetch_all(alias, f"TABLE {table}")]


def test_lost_post_leaves_the_recent_posts_indexes(people):
    post = publish(people[0])
    repost(people[1], post)
    drain_all()
    lose_post(post)
    line = f"account {people[0]}: post {post.public} was lost"
    repair(AuditRecentPosts, [line] * len(settings.SHARD_ALIASES))
    assert rows_of("timelines_recentpost") == [], "its repost has ended too"


def test_post_that_an_index_lacks_is_added(people):
    post = publish(people[0])
    drain_all()
    execute("shard2", "DELETE FROM timelines_recentpost")
    line = f"account {people[0]}: post {post.public} is not in the index of shard2"
    repair(AuditRecentPosts, [line])


def test_by_author_each_shard_is_compared_with_its_own_accounts(people, settings):
    settings.RECENT_INDEX = "by_author"
    publish(people[1])
    drain_all()
    post, alias = publish(people[0]), shard_of(people[0])
    complete_index(0)
    assert load_packs(people[:1]).keys() == set(people[:1])
    execute(alias, "UPDATE changes_change SET state = 2")
    line = f"account {people[0]}: post {post.public} is not in the index of {alias}"
    repair(AuditRecentPosts, [line])
    arrivals = Arrivals(load_packs(people[:1]))
    assert arrivals.list_events() == {post}


def test_index_that_no_process_reads_is_not_compared(people):
    publish(people[0])
    drain_all()
    execute("shard2", "DELETE FROM timelines_recentpost")
    execute("shard2", "DELETE FROM timelines_lowwatermark")
    assert Outcome(AuditRecentPosts()).code == 0


@pytest.fixture
def back(people):
    """A post and a repost that their restored shard has again, index and all."""
    author, other = people[0], people[1]
    post, original = publish(author), publish(other)
    shown = repost(author, original)
    drain_all()
    kept = fetch_all(shard_of(author), "TABLE timelines_recentpost")
    delete_post(post)
    undo_repost(author, original)
    drain_all()
    for one in (post, shown):
        lose_deletion(one)
    columns = ", ".join(["%s"] * len(kept[0]))
    for row in kept:
        sql = f"INSERT INTO timelines_recentpost VALUES ({columns}) ON CONFLICT DO NOTHING"
        execute(shard_of(author), sql, row)
    return author, post, shown


def end_deletions(author: int, since: datetime, restored_wins: bool = False) -> list[str]:
    work = Work([shard_of(author)])
    batches = end_lost_deletions(work, since, restored_wins)
    return [line for batch in batches for line in batch.details]


def soon() -> datetime:
    return datetime.now(UTC) + timedelta(seconds=2)


def test_posts_that_only_their_own_index_has_are_deleted_again(back):
    author, post, shown = back
    lines = [
        f"account {author}: post {one.public} is back: its deletion was lost" for one in back[1:]
    ]
    assert end_deletions(author, soon(), restored_wins=True) == lines
    assert find_live_posts(shard_of(author), [post, shown]) == {post, shown}
    assert end_deletions(author, soon()) == [f"{line}: repaired" for line in lines]
    assert find_live_posts(shard_of(author), [post, shown]) == set()
    assert end_deletions(author, soon()) == []


def test_posts_from_after_the_backup_are_left(back):
    author, *_ = back
    assert end_deletions(author, datetime.now(UTC) - timedelta(minutes=1)) == []


def test_post_of_an_author_whose_change_waits_is_left(people):
    """No index has it, also not its own: that is no deletion."""
    post = publish(people[0])
    assert end_deletions(people[0], soon()) == []
    drain_all()
    assert find_live_posts(shard_of(people[0]), [post]) == {post}
    assert end_deletions(people[0], soon()) == []


def test_without_another_index_nothing_is_taken_for_deleted(back):
    author, *_ = back
    for alias in settings.SHARD_ALIASES:
        if alias != shard_of(author):
            execute(alias, "DELETE FROM timelines_lowwatermark")
    assert end_deletions(author, soon()) == []
