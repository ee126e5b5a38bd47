"""Images that moderators hid: their files move to `next_token`, and no post can take them."""

from importlib import import_module

from django.db import migrations, models

BEFORE = import_module("images.migrations.0003_attach_again")
UNUSED = "used_by IS NULL AND remove_after > now()"
ATTACH = BEFORE.ATTACH.replace(UNUSED, f"{UNUSED} AND hidden_at IS NULL")


class Migration(migrations.Migration):
    dependencies = [("images", "0004_release_function")]

    operations = [
        migrations.AddField(
            "storedimage", "next_token", models.CharField(max_length=32, null=True)
        ),
        migrations.RunSQL(ATTACH, BEFORE.ATTACH, hints={"placement": "sharded"}),
    ]
