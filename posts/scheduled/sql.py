"""SQL on the table of scheduled posts. No other app names this table."""

from infra.jobs.walk import Table

TABLE = "scheduled_posts_scheduledpost"
COLUMNS = "scheduled_id, due_ms, params::text, failure, key"
# For jobs that walk all of them.
SCHEDULED_POSTS = Table(TABLE, ("author_id", "scheduled_id"))
