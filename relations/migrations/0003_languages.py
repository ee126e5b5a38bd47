"""The languages of a follow, and the functions that write them."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [("relations", "0002_functions")]

    operations = [
        migrations.AddField(
            model_name="forwardedge",
            name="languages",
            field=ArrayField(models.TextField(), null=True),
        ),
        migrations.RunSQL(functions_of("relations"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
