"""The order of direct posts of one second is that of their arrival."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0001_initial")]

    operations = [
        migrations.RemoveIndex(model_name="directpost", name="direct_post_thread"),
        migrations.AddField(
            model_name="directpost",
            name="arrival",
            field=models.BigIntegerField(db_default=0),
        ),
        migrations.AddField(
            model_name="conversation",
            name="last_arrival",
            field=models.BigIntegerField(db_default=0),
        ),
        migrations.AddIndex(
            model_name="directpost",
            index=models.Index(
                fields=[
                    "owner_id", "thread_author", "thread_moment",
                    "-second", "-arrival", "-author_id", "-sequence",
                ],
                name="direct_post_thread",
            ),
        ),
    ]  # fmt: skip
