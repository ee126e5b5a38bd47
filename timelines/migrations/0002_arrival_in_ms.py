"""`arrival` becomes a time, `settled` is added, and rows that arrived late get an index.

Rows from before keep their small numbers, which mean "long ago".
"""

from django.db import migrations, models

# EPOCH of post ids: a row is late if it arrived three seconds after its second, or was settled.
UP = """
ALTER TABLE timelines_recentpost
    ALTER COLUMN arrival SET DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    ADD COLUMN settled bigint;
CREATE INDEX timelines_recentpost_late ON timelines_recentpost ((COALESCE(settled, arrival)))
    WHERE settled IS NOT NULL OR arrival > (moment / 1296 + 1767225600) * 1000 + 3000;
"""
DOWN = """
DROP INDEX timelines_recentpost_late;
ALTER TABLE timelines_recentpost
    DROP COLUMN settled,
    ALTER COLUMN arrival SET DEFAULT nextval('timelines_recentpost_arrival');
"""


class Migration(migrations.Migration):
    dependencies = [("timelines", "0001_initial")]

    operations = [
        migrations.AddField("recentpost", "settled", models.BigIntegerField(null=True)),
        migrations.RunSQL(UP, DOWN, hints={"placement": "replicated"}),
    ]
