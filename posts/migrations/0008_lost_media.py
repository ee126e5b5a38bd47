"""Edits say that a post lost its images. Old functions do not, and streams read both."""

from django.db import migrations

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [("posts", "0007_reply_policy")]

    operations = [
        migrations.RunSQL(functions_of("posts"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
