from django.db import migrations, models

TABLES = """
CREATE TABLE timelines_recentpost (
    author_id bigint NOT NULL, moment bigint NOT NULL, shown_author bigint, shown_moment bigint,
    PRIMARY KEY (author_id, moment) INCLUDE (shown_author, shown_moment)
) PARTITION BY RANGE (moment);
CREATE INDEX timelines_recentpost_second ON timelines_recentpost USING brin ((moment / 1296));
CREATE TABLE timelines_recentpost_default PARTITION OF timelines_recentpost DEFAULT;
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
            ],
            options={
                'db_table': 'timelines_recentpost',
                'managed': False,
            },
        ),
        migrations.CreateModel(
            name='RecentReach',
            fields=[
                ('id', models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('complete_from', models.BigIntegerField()),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.RunSQL(TABLES, "DROP TABLE timelines_recentpost;", hints={'placement': 'replicated'}),
    ]
