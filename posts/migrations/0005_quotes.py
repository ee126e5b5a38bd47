"""Posts quote posts. The new columns have defaults, so old code goes on writing."""

from django.db import migrations, models

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [("posts", "0004_tagged_open")]

    operations = [
        migrations.AddField("post", "quoted_author", models.BigIntegerField(null=True)),
        migrations.AddField("post", "quoted_moment", models.BigIntegerField(null=True)),
        migrations.AddField("post", "is_quote_revoked", models.BooleanField(db_default=False)),
        migrations.AddField(
            "post",
            "quote_policy",
            models.SmallIntegerField(
                choices=[(0, "PUBLIC"), (1, "FOLLOWERS"), (2, "NOBODY")], db_default=0
            ),
        ),
        migrations.AlterField(
            "response",
            "kind",
            models.SmallIntegerField(
                choices=[(1, "REPLY"), (2, "REPOST"), (3, "FAVOURITE"), (9, "QUOTE")]
            ),
        ),
        migrations.RunSQL(functions_of("posts"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
