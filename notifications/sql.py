"""The tables of notifications, for jobs of other apps. No other app names these tables."""

from infra.jobs.walk import Table

NOTIFICATIONS = Table(
    "notifications_notification",
    ("owner_id", "from_id", "kind", "post_moment", "post_author"),
)
PERMISSIONS = Table("notifications_notificationpermission", ("owner_id", "from_id"))
INBOXES = Table("notifications_inbox", ("owner_id",))
