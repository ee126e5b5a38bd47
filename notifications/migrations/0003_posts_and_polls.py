from django.db import migrations, models

KINDS = [
    (1, "MENTION"),
    (2, "FOLLOW"),
    (3, "FOLLOW_REQUEST"),
    (4, "FAVOURITE"),
    (5, "REBLOG"),
    (6, "STATUS"),
    (7, "POLL"),
]


class Migration(migrations.Migration):
    dependencies = [("notifications", "0002_messages_to_push")]

    operations = [
        migrations.AlterField("notification", "kind", models.SmallIntegerField(choices=KINDS)),
    ]
