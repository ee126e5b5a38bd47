"""All histories: what happens at the same time to the same accounts.

Each prepares accounts and posts, and says what its actors do. A check inside an actor holds at its
moment, for example that a deleted post is not shown after the answer.
"""

from tests.interleavings import (
    contiguity,
    conversations,
    edits,
    home_pages,
    hot_counts,
    loads,
    overlaps,
    processes,
    writes,
)
from tests.interleavings.exploring import History, Schedule
from tests.interleavings.scheduler import Turn

ALL: tuple[History, ...] = (
    writes.follow_and_unfollow,
    writes.follow_and_late_drainer,
    writes.block_and_follow,
    writes.block_and_unblock,
    writes.request_and_answers,
    writes.removal_and_follow,
    home_pages.post_and_unfollow,
    home_pages.post_and_follow,
    home_pages.delete_and_load,
    home_pages.delete_and_build,
    edits.edit_and_load,
    edits.edits_and_deletion,
    edits.edit_and_hide,
    conversations.late_post_and_deletion,
    conversations.deletions_of_two,
    conversations.replies_of_two,
    conversations.edit_deletion_and_two_drainers,
    conversations.read_mark_and_post,
    home_pages.rebuild_and_push,
    home_pages.rebuild_and_delete,
    loads.list_and_unfollow,
    loads.relationship_and_follow,
    loads.counts_and_follow,
    loads.loads_and_changes,
    loads.flush_and_delete,
    loads.flush_and_unfollow,
    writes.count_and_recount,
    writes.two_drainers,
    writes.commits_out_of_order,
    home_pages.repost_and_undo,
    writes.favourite_and_end,
    home_pages.polls_of_one_token,
    loads.outage_and_call,
    writes.two_mirrors,
    overlaps.delete_build_and_repeat,
    overlaps.unfollow_push_and_build,
    overlaps.block_load_and_flush,
    overlaps.undo_load_and_eviction,
    overlaps.hot_author_and_load,
    hot_counts.block_and_fold,
    hot_counts.mirrors_and_fold,
    hot_counts.block_and_recount,
    hot_counts.responses_and_fold,
    contiguity.posts_and_slow_repost,
    contiguity.slow_posts_and_reader_elsewhere,
    contiguity.posts_and_their_author,
    processes.delete_and_reader_elsewhere,
    processes.edit_and_reader_elsewhere,
    processes.mute_and_reader_elsewhere,
    processes.outage_and_reader_elsewhere,
    processes.block_and_author_page_elsewhere,
)

# Schedules that broke a history once. The steps are those of that time.
KNOWN: tuple[tuple[History, Schedule], ...] = (
    (home_pages.polls_of_one_token, (Turn(2, 8),)),
    # Deadlocks, before all transactions took their locks in one order.
    (hot_counts.block_and_fold, (Turn(2, 2),)),
    (hot_counts.mirrors_and_fold, (Turn(2, 2),)),
    (hot_counts.block_and_recount, (Turn(2, 5), Turn(0, 99))),
    (hot_counts.responses_and_fold, (Turn(0, 2), Turn(1, 99), Turn(2, 2))),
)
