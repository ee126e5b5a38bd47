from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Inbox',
            fields=[
                ('owner_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('newest_tick', models.BigIntegerField(db_default=0)),
                ('cleared_id', models.BigIntegerField(db_default=0)),
                ('floor_ms', models.BigIntegerField(db_default=0)),
                ('crowd_floor_ms', models.BigIntegerField(db_default=0)),
                ('for_not_following', models.SmallIntegerField(choices=[(0, 'ACCEPT'), (1, 'FILTER'), (2, 'DROP')], db_default=0)),
                ('for_not_followers', models.SmallIntegerField(choices=[(0, 'ACCEPT'), (1, 'FILTER'), (2, 'DROP')], db_default=0)),
                ('for_new_accounts', models.SmallIntegerField(choices=[(0, 'ACCEPT'), (1, 'FILTER'), (2, 'DROP')], db_default=0)),
                ('for_private_mentions', models.SmallIntegerField(choices=[(0, 'ACCEPT'), (1, 'FILTER'), (2, 'DROP')], db_default=1)),
                ('for_limited_accounts', models.SmallIntegerField(choices=[(0, 'ACCEPT'), (1, 'FILTER'), (2, 'DROP')], db_default=1)),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='NotificationPermission',
            fields=[
                ('pk', models.CompositePrimaryKey('owner_id', 'from_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('owner_id', models.BigIntegerField()),
                ('from_id', models.BigIntegerField()),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='Notification',
            fields=[
                ('pk', models.CompositePrimaryKey('owner_id', 'from_id', 'kind', 'post_moment', 'post_author', blank=True, editable=False, primary_key=True, serialize=False)),
                ('owner_id', models.BigIntegerField()),
                ('from_id', models.BigIntegerField()),
                ('kind', models.SmallIntegerField(choices=[(1, 'MENTION'), (2, 'FOLLOW'), (3, 'FOLLOW_REQUEST'), (4, 'FAVOURITE'), (5, 'REBLOG'), (6, 'STATUS'), (7, 'POLL')])),
                ('post_moment', models.BigIntegerField()),
                ('post_author', models.BigIntegerField()),
                ('id', models.BigIntegerField()),
                ('at_ms', models.BigIntegerField()),
                ('revision', models.BigIntegerField()),
                ('is_on', models.BooleanField()),
                ('is_dismissed', models.BooleanField(db_default=False)),
                ('is_to_push', models.BooleanField(db_default=False)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('is_dismissed', False), ('is_on', True)), fields=['owner_id', 'kind', '-id'], include=('from_id', 'post_author', 'post_moment', 'at_ms'), name='notification_list'), models.Index(fields=['owner_id', 'id'], name='notification_age')],
            },
        ),
    ]
