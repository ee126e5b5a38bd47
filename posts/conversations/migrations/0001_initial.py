from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('pk', models.CompositePrimaryKey('owner_id', 'thread_author', 'thread_moment', blank=True, editable=False, primary_key=True, serialize=False)),
                ('owner_id', models.BigIntegerField()),
                ('thread_author', models.BigIntegerField()),
                ('thread_moment', models.BigIntegerField()),
                ('last_second', models.BigIntegerField()),
                ('last_author', models.BigIntegerField()),
                ('last_sequence', models.SmallIntegerField()),
                ('last_arrival', models.BigIntegerField(db_default=0)),
                ('is_unread', models.BooleanField()),
            ],
            options={
                'indexes': [models.Index(fields=['owner_id', '-last_second', '-last_author', '-last_sequence'], name='conversation_list')],
            },
        ),
        migrations.CreateModel(
            name='DirectPost',
            fields=[
                ('pk', models.CompositePrimaryKey('owner_id', 'second', 'author_id', 'sequence', blank=True, editable=False, primary_key=True, serialize=False)),
                ('owner_id', models.BigIntegerField()),
                ('second', models.BigIntegerField()),
                ('author_id', models.BigIntegerField()),
                ('sequence', models.SmallIntegerField()),
                ('thread_author', models.BigIntegerField()),
                ('thread_moment', models.BigIntegerField()),
                ('arrival', models.BigIntegerField(db_default=0)),
            ],
            options={
                'indexes': [models.Index(fields=['owner_id', 'thread_author', 'thread_moment', '-second', '-arrival', '-author_id', '-sequence'], name='direct_post_thread')],
            },
        ),
    ]
