"""A process is killed with -9 in the middle of a block; another process's drain finishes it."""

from signal import SIGKILL

import pytest

from relations.actions.follow import follow
from tests.cached_lists import assert_cached_lists_agree, write_lists
from tests.contradictions import assert_no_contradiction, shown_to
from tests.integration.timelines.homes import first_page
from tests.loaded_process import run_loaded
from tests.truth import assert_drained_truth, live_pairs
from tests.world import make_accounts, publish

pytestmark = pytest.mark.core

SCRIPT = """
import os, signal, sys
import django
django.setup()
from infra.changes.failpoints import arm
from relations.actions.block import block
place, owner, target = sys.argv[1:]
arm(place, lambda: os.kill(os.getpid(), signal.SIGKILL))
block(int(owner), int(target))
"""


@pytest.mark.parametrize("place", ["relations.blocked", "relations.mirrored_now"])
def test_block_of_a_killed_process_is_finished_by_the_drain(world, drain, place):
    a, b = make_accounts(2)
    follow(a, b)
    follow(b, a)
    for author in (a, b):
        publish(author)
    drain()
    for reader in (a, b):
        assert len(first_page(reader)) == 2
        write_lists(reader)
    assert run_loaded("-c", SCRIPT, place, str(a), str(b))[0] == -SIGKILL
    for viewer, other in ((a, b), (b, a)):
        assert_no_contradiction(viewer, other)
    drain()
    assert_drained_truth()
    assert_cached_lists_agree([a, b])
    assert live_pairs() == set()
    assert (shown_to(a, b).blocking, shown_to(b, a).blocked_by) == (True, True)
    assert [len(first_page(reader)) for reader in (a, b)] == [1, 1]
