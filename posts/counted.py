"""The rows that counts of posts are the numbers of."""

from counters.counted import Rows, counts_rows
from counters.kinds import CounterKind

counts_rows(CounterKind.POSTS, Rows("posts_post", "author_id", "deleted_at IS NULL"))
