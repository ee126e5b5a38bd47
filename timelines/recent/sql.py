"""The recent-posts index, for jobs that walk all rows of it."""

from infra.jobs.walk import Table

INDEXED = Table(
    "timelines_recentpost",
    ("author_id", "moment"),
    ("shown_author", "shown_moment"),
    is_replicated=True,
)
