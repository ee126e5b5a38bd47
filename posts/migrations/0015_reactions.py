"""Tenants declare reactions besides the favourite."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("posts", "0014_imported_data")]

    operations = [
        migrations.CreateModel(
            name="Reaction",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant", "number", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("tenant", models.SmallIntegerField(db_default=0, editable=False)),
                ("number", models.SmallIntegerField()),
                ("name", models.CharField(max_length=32)),
                ("words", models.JSONField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "name"), name="reaction_name")
                ],
            },
        ),
    ]
