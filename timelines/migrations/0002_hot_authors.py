from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("timelines", "0001_recent_posts"),
    ]

    operations = [
        migrations.CreateModel(
            name="HotAuthor",
            fields=[
                ("author_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("is_cooling", models.BooleanField(default=False)),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
    ]
