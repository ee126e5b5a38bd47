from django.db import migrations, models

# 1136073600: EPOCH of post ids. A row is late if it arrived three seconds after its second.
ARRIVAL = """
ALTER TABLE tags_taggedpost
    ALTER COLUMN arrival SET DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
CREATE INDEX tags_taggedpost_late ON tags_taggedpost (tag_id, arrival)
    WHERE arrival > (second + 1136073600) * 1000 + 3000;
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='AccountTag',
            fields=[
                ('pk', models.CompositePrimaryKey('owner_id', 'kind', 'tag_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('owner_id', models.BigIntegerField()),
                ('kind', models.SmallIntegerField(choices=[(0, 'FOLLOWED'), (1, 'FEATURED')])),
                ('tag_id', models.BigIntegerField()),
                ('name', models.CharField(max_length=100)),
                ('since_ms', models.BigIntegerField()),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='TaggedPost',
            fields=[
                ('pk', models.CompositePrimaryKey('tag_id', 'second', 'author_id', 'sequence', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tag_id', models.BigIntegerField()),
                ('second', models.BigIntegerField()),
                ('author_id', models.BigIntegerField()),
                ('sequence', models.SmallIntegerField()),
                ('arrival', models.BigIntegerField()),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='Tag',
            fields=[
                ('tag_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('name', models.TextField()),
            ],
            options={
                'indexes': [models.Index(fields=['name'], name='tag_name', opclasses=['text_pattern_ops'])],
            },
        ),
        migrations.RunSQL(ARRIVAL, migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
