from django.conf import settings
from django.db import migrations, models

from infra.sharding.buckets import even_map


def write_bucket_map(apps, schema_editor):
    """The map of a new installation: its buckets are spread evenly over its shards."""
    aliases = even_map(settings.SHARD_ALIASES)
    schema_editor.execute(
        "INSERT INTO sharding_bucket (bucket, alias) SELECT * FROM unnest(%s::int[], %s::text[])",
        (list(range(len(aliases))), aliases),
    )


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Bucket",
            fields=[
                ("bucket", models.PositiveSmallIntegerField(primary_key=True, serialize=False)),
                ("alias", models.CharField(max_length=32)),
                ("epoch", models.PositiveIntegerField(db_default=0, default=0)),
                ("moved_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="DatabaseIdentity",
            fields=[
                (
                    "id",
                    models.PositiveSmallIntegerField(
                        db_default=1, default=1, primary_key=True, serialize=False
                    ),
                ),
                ("alias", models.CharField(max_length=32)),
                ("installation", models.UUIDField()),
                ("created_at", models.DateTimeField()),
                ("map_epoch", models.PositiveIntegerField(db_default=0, default=0)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("id", 1)), name="database_identity_one_row"
                    )
                ],
            },
        ),
        migrations.RunPython(
            write_bucket_map, migrations.RunPython.noop, hints={"placement": "global"}
        ),
    ]
