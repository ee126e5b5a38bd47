from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='AccountNote',
            fields=[
                ('pk', models.CompositePrimaryKey('owner_id', 'target_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('owner_id', models.BigIntegerField()),
                ('target_id', models.BigIntegerField()),
                ('text', models.TextField()),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='FollowDay',
            fields=[
                ('account_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('day', models.IntegerField()),
                ('begun', models.IntegerField()),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='BackwardEdge',
            fields=[
                ('follower_id', models.BigIntegerField()),
                ('followee_id', models.BigIntegerField()),
                ('revision', models.BigIntegerField()),
                ('since_ms', models.BigIntegerField()),
                ('kind', models.SmallIntegerField(choices=[(0, 'ACCOUNT')], db_default=0)),
                ('attribute', models.SmallIntegerField(choices=[(0, 'NONE'), (1, 'FOLLOW'), (2, 'WHISPER'), (3, 'BLACK'), (4, 'REQUESTED'), (5, 'REQUESTED_QUIETLY')])),
                ('flags', models.SmallIntegerField(db_default=0)),
                ('pk', models.CompositePrimaryKey('followee_id', 'kind', 'follower_id', blank=True, editable=False, primary_key=True, serialize=False)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('attribute__in', (1, 2))), fields=['followee_id', 'kind', '-since_ms', '-follower_id'], include=('attribute',), name='backward_follows'), models.Index(condition=models.Q(('attribute', 2)), fields=['followee_id', 'kind', '-since_ms', '-follower_id'], name='backward_quiet'), models.Index(condition=models.Q(('attribute__in', (1, 2)), ('flags__in', [4, 5, 6, 7, 12, 13, 14, 15])), fields=['followee_id', 'kind', '-since_ms', '-follower_id'], name='backward_notifies'), models.Index(condition=models.Q(('attribute__in', (4, 5))), fields=['followee_id', 'kind', '-since_ms', '-follower_id'], name='backward_requests')],
            },
        ),
        migrations.CreateModel(
            name='ForwardEdge',
            fields=[
                ('follower_id', models.BigIntegerField()),
                ('followee_id', models.BigIntegerField()),
                ('revision', models.BigIntegerField()),
                ('since_ms', models.BigIntegerField()),
                ('kind', models.SmallIntegerField(choices=[(0, 'ACCOUNT')], db_default=0)),
                ('attribute', models.SmallIntegerField(choices=[(0, 'NONE'), (1, 'FOLLOW'), (2, 'WHISPER'), (3, 'BLACK'), (4, 'REQUESTED'), (5, 'REQUESTED_QUIETLY')])),
                ('flags', models.SmallIntegerField(db_default=0)),
                ('pk', models.CompositePrimaryKey('follower_id', 'kind', 'followee_id', blank=True, editable=False, primary_key=True, serialize=False)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('attribute__in', (1, 2))), fields=['follower_id', 'kind', '-since_ms', '-followee_id'], include=('attribute',), name='forward_follows'), models.Index(condition=models.Q(('flags__gte', 8)), fields=['follower_id', 'kind', '-since_ms', '-followee_id'], include=('attribute', 'flags'), name='forward_endorsed'), models.Index(condition=models.Q(('attribute__in', (2, 3))), fields=['follower_id', 'kind', 'attribute', '-since_ms', '-followee_id'], name='forward_secrets')],
            },
        ),
        migrations.CreateModel(
            name='Muted',
            fields=[
                ('pk', models.CompositePrimaryKey('owner_id', 'kind', 'target_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('owner_id', models.BigIntegerField()),
                ('target_id', models.BigIntegerField()),
                ('revision', models.BigIntegerField()),
                ('since_ms', models.BigIntegerField()),
                ('until_ms', models.BigIntegerField()),
                ('kind', models.SmallIntegerField(choices=[(0, 'ACCOUNT')], db_default=0)),
                ('is_on', models.BooleanField()),
                ('hides_notifications', models.BooleanField()),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('is_on', True)), fields=['owner_id', 'kind', '-since_ms', '-target_id'], include=('until_ms',), name='muted_list')],
            },
        ),
    ]
