from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sharding', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Pulse',
            fields=[
                ('alias', models.CharField(max_length=32, primary_key=True, serialize=False)),
                ('beat_at', models.DateTimeField()),
                ('timeline', models.BigIntegerField()),
                ('is_synchronous', models.BooleanField()),
                ('lost_since', models.DateTimeField(null=True)),
                ('noticed_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name='databaseidentity',
            name='beat_at',
            field=models.DateTimeField(null=True),
        ),
    ]
