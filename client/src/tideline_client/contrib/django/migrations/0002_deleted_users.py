from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tideline", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="accountsync",
            name="is_deleted",
            field=models.BooleanField(default=False),
        ),
        migrations.AddIndex(
            model_name="accountsync",
            index=models.Index(fields=["account_id"], name="tideline_sync_account"),
        ),
    ]
