"""Posts have types and data of products. The new columns may be NULL, so old code goes on writing."""

from django.db import migrations, models

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [("posts", "0012_newest_of_equal")]

    operations = [
        migrations.AddField("post", "post_type", models.CharField(max_length=64, null=True)),
        migrations.AddField("post", "custom", models.TextField(null=True)),
        migrations.CreateModel(
            name="PostType",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant", "name", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("tenant", models.SmallIntegerField(db_default=0, editable=False)),
                ("name", models.CharField(max_length=64)),
                ("words", models.JSONField()),
            ],
        ),
        migrations.RunSQL(functions_of("posts"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
