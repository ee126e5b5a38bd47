from django.db import migrations, models

ENTRIES = """
CREATE TABLE timelines_entry (
    reader_id bigint NOT NULL, second bigint NOT NULL, author_id bigint NOT NULL,
    sequence smallint NOT NULL, shown_author bigint, shown_moment bigint,
    PRIMARY KEY (reader_id, second, author_id, sequence) INCLUDE (shown_author, shown_moment)
) PARTITION BY RANGE (second);
CREATE TABLE timelines_entry_default PARTITION OF timelines_entry DEFAULT;
"""


class Migration(migrations.Migration):

    dependencies = [
        ("timelines", "0002_hot_authors"),
    ]

    operations = [
        migrations.CreateModel(
            name="TimelineEntry",
            fields=[
                ("pk", models.CompositePrimaryKey("reader_id", "second", "author_id", "sequence", blank=True, editable=False, primary_key=True, serialize=False)),
                ("reader_id", models.BigIntegerField()),
                ("second", models.BigIntegerField()),
                ("author_id", models.BigIntegerField()),
                ("sequence", models.SmallIntegerField()),
                ("shown_author", models.BigIntegerField(null=True)),
                ("shown_moment", models.BigIntegerField(null=True)),
            ],
            options={
                "db_table": "timelines_entry",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="TimelineHead",
            fields=[
                ("reader_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("complete_from", models.BigIntegerField(null=True)),
                ("following_version", models.BigIntegerField()),
                ("epoch", models.BigIntegerField()),
                ("read_at", models.DateTimeField()),
            ],
            options={
                "db_table": "timelines_head",
                "indexes": [models.Index(fields=["read_at"], name="timelines_head_read")],
            },
        ),
        migrations.RunSQL(ENTRIES, "DROP TABLE timelines_entry;", hints={"placement": "sharded"}),
    ]
