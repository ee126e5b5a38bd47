"""An import takes lines that say the same. Old functions fail with their whole batch."""

from django.db import migrations

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [("posts", "0008_lost_media")]

    operations = [
        migrations.RunSQL(functions_of("posts"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
