"""A tenth of each page of counts stays free, so that the next version of a count fits next to it.

Such an update writes no index. It is for new pages; those that are full get room as they are used.
No table is rewritten, and readers and writers do not wait.
"""

from django.db import migrations

SET = "ALTER TABLE counters_counter SET (fillfactor = 90);"
RESET = "ALTER TABLE counters_counter RESET (fillfactor);"


class Migration(migrations.Migration):
    dependencies = [
        ("counters", "0002_functions"),
    ]

    operations = [
        migrations.RunSQL(SET, RESET, hints={"placement": "sharded"}),
    ]
