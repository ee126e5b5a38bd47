"""Edits change what images of a post say about themselves."""

from django.db import migrations

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [("posts", "0002_functions"), ("images", "0002_functions")]

    operations = [
        migrations.RunSQL(functions_of("posts"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
