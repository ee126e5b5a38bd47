import django.db.models.functions.datetime
from django.db import migrations, models

DELIVERED = """
CREATE SEQUENCE changes_delivered_sequence;
CREATE TABLE changes_delivered (
    delivered_on date NOT NULL, id bigint NOT NULL, lane smallint NOT NULL,
    kind varchar(64) NOT NULL, owner_id bigint NOT NULL, payload jsonb NOT NULL,
    created_at timestamptz NOT NULL, delivered_at timestamptz NOT NULL,
    sequence bigint NOT NULL DEFAULT nextval('changes_delivered_sequence'),
    PRIMARY KEY (delivered_on, id)
) PARTITION BY RANGE (delivered_on);
ALTER SEQUENCE changes_delivered_sequence OWNED BY changes_delivered.sequence;
CREATE TABLE changes_delivered_default PARTITION OF changes_delivered DEFAULT;
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='DeliveredChange',
            fields=[
                ('pk', models.CompositePrimaryKey('delivered_on', 'id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('delivered_on', models.DateField()),
                ('id', models.BigIntegerField()),
                ('lane', models.SmallIntegerField()),
                ('kind', models.CharField(max_length=64)),
                ('owner_id', models.BigIntegerField()),
                ('payload', models.JSONField()),
                ('created_at', models.DateTimeField()),
                ('delivered_at', models.DateTimeField()),
                ('sequence', models.BigIntegerField()),
            ],
            options={
                'db_table': 'changes_delivered',
                'managed': False,
            },
        ),
        migrations.CreateModel(
            name='DiscardedChange',
            fields=[
                ('id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('lane', models.SmallIntegerField()),
                ('kind', models.CharField(max_length=64)),
                ('owner_id', models.BigIntegerField()),
                ('payload', models.JSONField()),
                ('created_at', models.DateTimeField()),
                ('attempts', models.IntegerField()),
                ('error', models.TextField()),
                ('reason', models.TextField()),
                ('discarded_by', models.TextField()),
                ('discarded_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='DrainLease',
            fields=[
                ('lane', models.SmallIntegerField(primary_key=True, serialize=False)),
                ('token', models.BigIntegerField()),
                ('backend_pid', models.IntegerField()),
                ('backend_start', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('throttled_until', models.DateTimeField(null=True)),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='PausedKind',
            fields=[
                ('kind', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('reason', models.TextField()),
                ('paused_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('is_ending', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='Change',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('lane', models.SmallIntegerField()),
                ('kind', models.CharField(max_length=64)),
                ('owner_id', models.BigIntegerField()),
                ('payload', models.JSONField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('state', models.SmallIntegerField(choices=[(0, 'Pending'), (1, 'Parked')], db_default=0)),
                ('attempts', models.IntegerField(db_default=0)),
                ('next_attempt_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('error', models.TextField(blank=True, db_default='')),
                ('is_waiting', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state', 0)), fields=['lane', 'id'], name='change_pending'), models.Index(condition=models.Q(('state', 1)), fields=['id'], name='change_parked')],
            },
        ),
        migrations.RunSQL(DELIVERED, "DROP TABLE changes_delivered;"),
    ]
