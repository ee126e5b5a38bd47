"""A second tenant gets databases of its own, so no row names a tenant.

The columns stay for old code, with a default of the database. A second step removes them.
"""

import django.db.models.deletion
from django.db import migrations, models

# The key of the rules goes with the primary key to which it refers.
TEXTS = """
ALTER TABLE site_texts_sitetexts ADD COLUMN id smallint NOT NULL DEFAULT 0;
ALTER TABLE site_texts_sitetexts DROP CONSTRAINT site_texts_sitetexts_pkey CASCADE,
    ADD PRIMARY KEY (id);
ALTER TABLE site_texts_siterule ALTER COLUMN tenant SET DEFAULT 0,
    ADD COLUMN site_id smallint NOT NULL DEFAULT 0
        REFERENCES site_texts_sitetexts (id) DEFERRABLE INITIALLY DEFERRED;
"""


class Migration(migrations.Migration):
    dependencies = [("site_texts", "0004_rule_translations")]

    operations = [
        migrations.AlterField(
            "sitetexts",
            "tenant",
            models.SmallIntegerField(
                primary_key=True, default=0, db_default=0, editable=False, serialize=False
            ),
        ),
        migrations.RunSQL(
            TEXTS,
            migrations.RunSQL.noop,
            state_operations=[
                migrations.RemoveField("sitetexts", "tenant"),
                migrations.AddField(
                    "sitetexts",
                    "id",
                    models.SmallIntegerField(
                        primary_key=True, default=0, db_default=0, editable=False, serialize=False
                    ),
                ),
                migrations.AlterField(
                    "siterule",
                    "site",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rules",
                        to="site_texts.sitetexts",
                    ),
                ),
            ],
        ),
    ]
