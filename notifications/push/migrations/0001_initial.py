from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='PushSubscription',
            fields=[
                ('pk', models.CompositePrimaryKey('account_id', 'token_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('account_id', models.BigIntegerField()),
                ('token_id', models.BigIntegerField()),
                ('endpoint', models.CharField(max_length=2000)),
                ('p256dh', models.CharField(max_length=100)),
                ('auth', models.CharField(max_length=100)),
                ('is_standard', models.BooleanField()),
                ('alerts', models.IntegerField()),
                ('audience', models.SmallIntegerField(choices=[(0, 'ALL'), (1, 'FOLLOWED'), (2, 'FOLLOWER'), (3, 'NONE')])),
                ('sealed_token', models.BinaryField()),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
    ]
