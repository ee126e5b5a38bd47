import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='JobCheckpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job', models.CharField(max_length=64)),
                ('scope', models.TextField()),
                ('position', models.JSONField()),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('job', 'scope'), name='checkpoint_of_job')],
            },
        ),
        migrations.CreateModel(
            name='JobRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job', models.CharField(max_length=64)),
                ('flags', models.TextField()),
                ('dry_run', models.BooleanField()),
                ('state', models.CharField(choices=[('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('stopped', 'Stopped'), ('died', 'Died')], default='running', max_length=16)),
                ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('reported_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('finished_at', models.DateTimeField(null=True)),
                ('done', models.BigIntegerField(db_default=0, default=0)),
                ('failed', models.BigIntegerField(db_default=0, default=0)),
                ('changed', models.BigIntegerField(null=True)),
                ('host', models.TextField()),
                ('pid', models.IntegerField()),
                ('error', models.TextField(db_default='', default='')),
            ],
            options={
                'permissions': [('operate', 'Can see and use the pages of operators')],
                'indexes': [models.Index(condition=models.Q(('state', 'running')), fields=['id'], name='jobrun_running'), models.Index(fields=['started_at'], name='jobrun_started')],
            },
        ),
    ]
