"""Delivered changes can be read in the order in which they became visible (infra/changes/feed.py)."""

from django.db import migrations

ORDER = """
ALTER TABLE changes_delivered ADD COLUMN filed_by xid8 NOT NULL DEFAULT pg_current_xact_id();
CREATE INDEX changes_delivered_order ON changes_delivered (filed_by, sequence);
CREATE VIEW changes_outbox AS
    SELECT filed_by, sequence, id, 'account' AS aggregatetype, owner_id::text AS aggregateid,
        kind AS type, payload, delivered_at AS "timestamp"
    FROM changes_delivered WHERE filed_by < pg_snapshot_xmin(pg_current_snapshot());
"""
NO_ORDER = """
DROP VIEW changes_outbox;
ALTER TABLE changes_delivered DROP COLUMN filed_by;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("changes", "0002_functions"),
    ]

    operations = [
        migrations.RunSQL(ORDER, NO_ORDER),
    ]
