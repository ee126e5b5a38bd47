import django.contrib.postgres.fields
from django.db import migrations, models

# end_polls: polls whose end was not reported
OPEN_POLLS = """
CREATE INDEX post_open_poll ON posts_post (((poll ->> 'expires_at_s')::bigint))
    WHERE poll IS NOT NULL AND NOT is_end_reported AND deleted_at IS NULL;
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='LinkDay',
            fields=[
                ('author_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('day', models.IntegerField()),
                ('mentions', models.IntegerField()),
                ('tags', models.IntegerField()),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='PollTally',
            fields=[
                ('pk', models.CompositePrimaryKey('author_id', 'moment', blank=True, editable=False, primary_key=True, serialize=False)),
                ('author_id', models.BigIntegerField()),
                ('moment', models.BigIntegerField()),
                ('votes', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
                ('voters', models.IntegerField()),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='PostVersion',
            fields=[
                ('pk', models.CompositePrimaryKey('author_id', 'moment', 'number', blank=True, editable=False, primary_key=True, serialize=False)),
                ('author_id', models.BigIntegerField()),
                ('moment', models.BigIntegerField()),
                ('number', models.IntegerField()),
                ('text', models.TextField()),
                ('sensitive', models.BooleanField()),
                ('spoiler_text', models.TextField(blank=True)),
                ('mentions', models.JSONField(null=True)),
                ('media', models.JSONField(null=True)),
                ('poll', models.JSONField(null=True)),
                ('edited_at', models.DateTimeField(null=True)),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='PublishedKey',
            fields=[
                ('pk', models.CompositePrimaryKey('author_id', 'key', blank=True, editable=False, primary_key=True, serialize=False)),
                ('author_id', models.BigIntegerField()),
                ('key', models.CharField(max_length=64)),
                ('moment', models.BigIntegerField()),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='PollVote',
            fields=[
                ('pk', models.CompositePrimaryKey('author_id', 'moment', 'voter_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('author_id', models.BigIntegerField()),
                ('moment', models.BigIntegerField()),
                ('voter_id', models.BigIntegerField()),
                ('choices', django.contrib.postgres.fields.ArrayField(base_field=models.SmallIntegerField(), size=None)),
                ('edition', models.IntegerField(db_default=0)),
            ],
            options={
                'indexes': [models.Index(fields=['voter_id'], name='poll_vote_voter')],
            },
        ),
        migrations.CreateModel(
            name='Post',
            fields=[
                ('pk', models.CompositePrimaryKey('author_id', 'moment', blank=True, editable=False, primary_key=True, serialize=False)),
                ('author_id', models.BigIntegerField()),
                ('moment', models.BigIntegerField()),
                ('text', models.TextField()),
                ('sensitive', models.BooleanField(default=False)),
                ('spoiler_text', models.TextField(blank=True, default='')),
                ('language', models.CharField(max_length=16, null=True)),
                ('deleted_at', models.DateTimeField(null=True)),
                ('kind', models.SmallIntegerField(choices=[(0, 'POST'), (1, 'REPLY'), (2, 'REPOST')], db_default=0)),
                ('visibility', models.SmallIntegerField(choices=[(0, 'PUBLIC'), (1, 'UNLISTED'), (2, 'PRIVATE'), (3, 'DIRECT')], db_default=0)),
                ('target_author', models.BigIntegerField(null=True)),
                ('target_moment', models.BigIntegerField(null=True)),
                ('mentions', models.JSONField(null=True)),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), null=True, size=None)),
                ('media', models.JSONField(null=True)),
                ('poll', models.JSONField(null=True)),
                ('application', models.JSONField(null=True)),
                ('edited_at', models.DateTimeField(null=True)),
                ('thread_author', models.BigIntegerField(null=True)),
                ('thread_moment', models.BigIntegerField(null=True)),
                ('hidden_at', models.DateTimeField(null=True)),
                ('hidden_revision', models.BigIntegerField(db_default=0)),
                ('is_orphan', models.BooleanField(db_default=False)),
                ('is_end_reported', models.BooleanField(db_default=False)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('deleted_at', None)), fields=['author_id', '-moment'], include=('kind', 'visibility', 'target_author', 'target_moment'), name='post_live'), models.Index(condition=models.Q(('deleted_at', None), ('tags__isnull', False), ('visibility', 0)), fields=['author_id', '-moment'], name='post_tagged'), models.Index(condition=models.Q(('deleted_at', None), ('media__isnull', False)), fields=['author_id', '-moment'], name='post_with_images'), models.Index(condition=models.Q(('deleted_at', None), ('hidden_at', None), ('kind__lt', 2), ('visibility', 0)), fields=['moment'], name='post_public'), models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['author_id', 'moment'], name='post_deleted')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('deleted_at', None), ('kind', 2)), fields=('author_id', 'target_moment', 'target_author'), name='post_reposted_once'), models.CheckConstraint(condition=models.Q(('kind', 0), models.Q(('target_author__isnull', False), ('target_moment__isnull', False)), _connector='OR'), name='post_has_target')],
            },
        ),
        migrations.CreateModel(
            name='Response',
            fields=[
                ('pk', models.CompositePrimaryKey('author_id', 'moment', 'kind', 'responder_id', 'reply_moment', blank=True, editable=False, primary_key=True, serialize=False)),
                ('author_id', models.BigIntegerField()),
                ('moment', models.BigIntegerField()),
                ('kind', models.SmallIntegerField(choices=[(1, 'REPLY'), (2, 'REPOST'), (3, 'FAVOURITE')])),
                ('visibility', models.SmallIntegerField(choices=[(0, 'PUBLIC'), (1, 'UNLISTED'), (2, 'PRIVATE'), (3, 'DIRECT')], db_default=0)),
                ('responder_id', models.BigIntegerField()),
                ('reply_moment', models.BigIntegerField()),
                ('at', models.BigIntegerField()),
                ('revision', models.BigIntegerField()),
                ('is_on', models.BooleanField()),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('is_on', True)), fields=['author_id', 'moment', 'kind', '-at', '-responder_id'], name='response_list'), models.Index(condition=models.Q(('is_on', False), ('kind__in', [1, 7])), fields=['author_id', 'moment', 'at', 'responder_id'], name='response_deleted_replies')],
            },
        ),
        migrations.CreateModel(
            name='ViewerMark',
            fields=[
                ('pk', models.CompositePrimaryKey('owner_id', 'target_moment', 'target_author', 'kind', blank=True, editable=False, primary_key=True, serialize=False)),
                ('owner_id', models.BigIntegerField()),
                ('target_moment', models.BigIntegerField()),
                ('target_author', models.BigIntegerField()),
                ('kind', models.SmallIntegerField(choices=[(3, 'FAVOURITE'), (4, 'BOOKMARK'), (5, 'THREAD_MUTE'), (6, 'PIN')])),
                ('is_on', models.BooleanField()),
                ('revision', models.BigIntegerField()),
                ('since_ms', models.BigIntegerField()),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('is_on', True)), fields=['owner_id', 'kind', '-since_ms', '-target_author', '-target_moment'], name='viewer_mark_list'), models.Index(condition=models.Q(('is_on', True)), fields=['owner_id', '-target_moment', '-target_author'], include=('kind',), name='viewer_mark_recent')],
            },
        ),
        migrations.RunSQL(OPEN_POLLS, "DROP INDEX post_open_poll;", hints={"placement": "sharded"}),
    ]
