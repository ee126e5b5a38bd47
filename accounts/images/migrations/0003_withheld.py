"""Files of hidden posts and of suspended accounts are withheld. Old code leaves them where they are."""

from django.db import migrations, models

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [("images", "0002_functions")]

    operations = [
        migrations.AddField("storedimage", "public_token", models.CharField(max_length=32, null=True)),
        migrations.AddField("storedimage", "withheld_token", models.CharField(max_length=32, null=True)),
        migrations.AddField("storedimage", "of_hidden_post", models.BooleanField(db_default=False)),
        migrations.AddField("storedimage", "of_suspended", models.BooleanField(db_default=False)),
        migrations.RunSQL(functions_of("images"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
