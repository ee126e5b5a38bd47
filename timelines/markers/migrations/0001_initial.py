from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Marker',
            fields=[
                ('pk', models.CompositePrimaryKey('account_id', 'timeline', blank=True, editable=False, primary_key=True, serialize=False)),
                ('account_id', models.BigIntegerField()),
                ('timeline', models.SmallIntegerField(choices=[(0, 'HOME'), (1, 'NOTIFICATIONS')])),
                ('last_read_id', models.CharField(max_length=20)),
                ('version', models.BigIntegerField()),
                ('updated_at', models.DateTimeField()),
                ('seen_ms', models.BigIntegerField(null=True)),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
    ]
