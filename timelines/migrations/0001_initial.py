import django.db.models.functions.datetime
from django.db import migrations, models

# 1136073600: EPOCH of post ids. A row is late if it arrived three seconds after its second.
RECENT_POSTS = """
CREATE TABLE timelines_recentpost (
    author_id bigint NOT NULL, moment bigint NOT NULL, shown_author bigint, shown_moment bigint,
    arrival bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    settled bigint,
    PRIMARY KEY (author_id, moment) INCLUDE (shown_author, shown_moment)
) PARTITION BY RANGE (moment);
CREATE INDEX timelines_recentpost_second ON timelines_recentpost USING brin ((moment / 1296));
CREATE INDEX timelines_recentpost_late ON timelines_recentpost ((COALESCE(settled, arrival)))
    WHERE settled IS NOT NULL OR arrival > (moment / 1296 + 1136073600) * 1000 + 3000;
CREATE TABLE timelines_recentpost_default PARTITION OF timelines_recentpost DEFAULT;
"""
ENTRIES = """
CREATE TABLE timelines_entry (
    reader_id bigint NOT NULL, second bigint NOT NULL, author_id bigint NOT NULL,
    sequence smallint NOT NULL, shown_author bigint, shown_moment bigint,
    PRIMARY KEY (reader_id, second, author_id, sequence) INCLUDE (shown_author, shown_moment)
) PARTITION BY RANGE (second);
CREATE TABLE timelines_entry_default PARTITION OF timelines_entry DEFAULT;
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='RecentPost',
            fields=[
                ('pk', models.CompositePrimaryKey('author_id', 'moment', blank=True, editable=False, primary_key=True, serialize=False)),
                ('author_id', models.BigIntegerField()),
                ('moment', models.BigIntegerField()),
                ('shown_author', models.BigIntegerField(null=True)),
                ('shown_moment', models.BigIntegerField(null=True)),
                ('arrival', models.BigIntegerField()),
                ('settled', models.BigIntegerField(null=True)),
            ],
            options={
                'db_table': 'timelines_recentpost',
                'managed': False,
            },
        ),
        migrations.CreateModel(
            name='TimelineEntry',
            fields=[
                ('pk', models.CompositePrimaryKey('reader_id', 'second', 'author_id', 'sequence', blank=True, editable=False, primary_key=True, serialize=False)),
                ('reader_id', models.BigIntegerField()),
                ('second', models.BigIntegerField()),
                ('author_id', models.BigIntegerField()),
                ('sequence', models.SmallIntegerField()),
                ('shown_author', models.BigIntegerField(null=True)),
                ('shown_moment', models.BigIntegerField(null=True)),
            ],
            options={
                'db_table': 'timelines_entry',
                'managed': False,
            },
        ),
        migrations.CreateModel(
            name='HotAuthor',
            fields=[
                ('author_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('is_cooling', models.BooleanField(default=False)),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='LowWaterMark',
            fields=[
                ('id', models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('complete_from', models.BigIntegerField()),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='StoreGeneration',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('store', models.CharField(max_length=16)),
                ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='TimelineHead',
            fields=[
                ('reader_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('complete_from', models.BigIntegerField(null=True)),
                ('following_version', models.BigIntegerField()),
                ('epoch', models.BigIntegerField()),
                ('read_at', models.DateTimeField()),
            ],
            options={
                'db_table': 'timelines_head',
                'indexes': [models.Index(fields=['read_at'], name='timelines_head_read')],
            },
        ),
        migrations.RunSQL(
            RECENT_POSTS, "DROP TABLE timelines_recentpost;", hints={"placement": "replicated"}
        ),
        migrations.RunSQL(ENTRIES, "DROP TABLE timelines_entry;", hints={"placement": "sharded"}),
    ]
