"""The tables of notifications, for jobs of other apps. No other app names these tables."""

from infra.jobs.walk import Table

NOTIFICATIONS = Table(
    "notifications_notification",
    ("owner_id", "from_id", "kind", "post_moment", "post_author"),
)
# Those that are shown, and mentions that were ended.
HELD_NOTIFICATIONS = Table(
    "notifications_notification",
    ("owner_id", "from_id", "kind", "post_moment", "post_author"),
    ("at_ms", "revision", "is_on"),
    where="is_on OR kind = 1",
)
PERMISSIONS = Table("notifications_notificationpermission", ("owner_id", "from_id"))
INBOXES = Table("notifications_inbox", ("owner_id",))
