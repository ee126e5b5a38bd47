"""Authors say who may reply. The new column has a default, so old code goes on writing."""

from django.db import migrations, models

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [("posts", "0006_votes_of_voter")]

    operations = [
        migrations.AddField(
            "post",
            "reply_policy",
            models.SmallIntegerField(
                choices=[
                    (0, "PUBLIC"),
                    (1, "FOLLOWERS"),
                    (2, "FOLLOWING"),
                    (3, "MENTIONED"),
                    (4, "NOBODY"),
                ],
                db_default=0,
            ),
        ),
        migrations.RunSQL(functions_of("posts"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
