from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='DismissedSuggestion',
            fields=[
                ('pk', models.CompositePrimaryKey('owner_id', 'account_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('owner_id', models.BigIntegerField()),
                ('account_id', models.BigIntegerField()),
                ('since_ms', models.BigIntegerField()),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
    ]
