"""The functions of images, as `functions.sql` has them."""

from django.db import migrations

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [
        ("images", "0001_initial"),
    ]

    operations = [
        migrations.RunSQL(functions_of("images"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
