from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='StoredImage',
            fields=[
                ('pk', models.CompositePrimaryKey('owner_id', 'id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('owner_id', models.BigIntegerField()),
                ('id', models.BigIntegerField()),
                ('purpose', models.SmallIntegerField(choices=[(0, 'POST'), (1, 'AVATAR'), (2, 'HEADER')])),
                ('token', models.CharField(max_length=32)),
                ('facts', models.JSONField()),
                ('description', models.TextField(blank=True, db_default='')),
                ('focus_x', models.FloatField(db_default=0.0)),
                ('focus_y', models.FloatField(db_default=0.0)),
                ('created_at', models.DateTimeField()),
                ('remove_after', models.DateTimeField(null=True)),
                ('used_by', models.BigIntegerField(null=True)),
                ('hidden_at', models.DateTimeField(null=True)),
                ('hidden_revision', models.BigIntegerField(db_default=0)),
                ('next_token', models.CharField(max_length=32, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('remove_after__isnull', False)), fields=['owner_id', 'id'], include=('remove_after',), name='image_unused'), models.Index(condition=models.Q(('used_by__isnull', False)), fields=['owner_id', 'used_by'], name='image_of_post')],
            },
        ),
    ]
