from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='AccountList',
            fields=[
                ('pk', models.CompositePrimaryKey('owner_id', 'list_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('owner_id', models.BigIntegerField()),
                ('list_id', models.BigIntegerField()),
                ('title', models.CharField(max_length=256)),
                ('replies_policy', models.SmallIntegerField(choices=[(0, 'LIST'), (1, 'FOLLOWED'), (2, 'NONE')])),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='ListMember',
            fields=[
                ('pk', models.CompositePrimaryKey('owner_id', 'list_id', 'account_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('owner_id', models.BigIntegerField()),
                ('list_id', models.BigIntegerField()),
                ('account_id', models.BigIntegerField()),
                ('since_ms', models.BigIntegerField()),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
    ]
