import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Filter',
            fields=[
                ('pk', models.CompositePrimaryKey('owner_id', 'filter_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('owner_id', models.BigIntegerField()),
                ('filter_id', models.BigIntegerField()),
                ('title', models.CharField(max_length=256)),
                ('contexts', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=13), size=None)),
                ('action', models.CharField(max_length=4)),
                ('expires_ms', models.BigIntegerField(null=True)),
                ('keywords', models.JSONField()),
                ('statuses', models.JSONField()),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
    ]
