"""SQL on the table of scheduled posts. No other app names this table."""

from infra.jobs.walk import Table

TABLE = "scheduled_posts_scheduledpost"
COLUMNS = "scheduled_id, due_ms, params::text, failure, key"
# The `failure` of a row that stays after its post was published, so that its key answers the same.
PUBLISHED = "published"
WAITING = f"failure <> '{PUBLISHED}'"
# For jobs that walk all of them.
SCHEDULED_POSTS = Table(TABLE, ("author_id", "scheduled_id"))
