"""rebuild_timelines killed with -9 in the middle of its work; the next run goes on."""

import pytest

from posts.actions.delete_post import delete_post
from relations.actions.follow import follow
from tests.faults.dying_job import kill_at
from tests.integration.jobs.outcomes import Outcome
from tests.integration.timelines.broken_timelines import lose
from tests.integration.timelines.homes import first_page, read_to_end
from tests.world import drain_all, make_accounts, publish
from timelines.management.commands.audit_timelines import Command as Audit
from timelines.management.commands.rebuild_timelines import Command as Rebuild

READERS = 8


@pytest.fixture
def homes(world):
    """Readers of one author; each timeline lacks one entry and has a stale one."""
    author, *readers = make_accounts(READERS + 1)
    for reader in readers:
        follow(reader, author)
    drain_all()
    for reader in readers:
        first_page(reader)
    posts = [publish(author) for _ in range(4)]
    delete_post(posts[0])
    drain_all()
    for reader in readers:
        lose(reader, posts[1:2])
    return readers, [post.public for post in reversed(posts[1:])]


def test_killed_between_two_steps_and_resumed_it_ends_the_same(homes):
    readers, expected = homes
    kill_at("timeline.holes_filled", 4, "rebuild_timelines", "--all", "--batch-size", "1")
    assert Outcome(Audit()).out.endswith(f"{READERS - 4} failed\n"), "four are filled, three whole"
    assert "5 changed" in Outcome(Rebuild(), "--all", "--resume").out
    assert Outcome(Audit()).code == 0
    assert [read_to_end(reader) for reader in readers] == [expected] * READERS
    assert "0 changed" in Outcome(Rebuild(), "--all").out
