"""Accounts may be things of services, whose kinds are declared. The column may be NULL, so old code goes
on writing."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_home_replies")]

    operations = [
        migrations.AddField("account", "service_object", models.JSONField(null=True)),
        migrations.CreateModel(
            name="ObjectKind",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant", "name", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("tenant", models.SmallIntegerField(db_default=0, editable=False)),
                ("name", models.CharField(max_length=15)),
                ("words", models.JSONField()),
            ],
        ),
    ]
