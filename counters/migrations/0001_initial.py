from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='PostponedMove',
            fields=[
                ('pk', models.CompositePrimaryKey('owner_id', 'subject', 'kind', 'about', blank=True, editable=False, primary_key=True, serialize=False)),
                ('owner_id', models.BigIntegerField()),
                ('subject', models.BigIntegerField()),
                ('kind', models.SmallIntegerField()),
                ('about', models.BigIntegerField()),
                ('delta', models.BigIntegerField()),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='Counter',
            fields=[
                ('pk', models.CompositePrimaryKey('owner_id', 'subject', 'kind', blank=True, editable=False, primary_key=True, serialize=False)),
                ('owner_id', models.BigIntegerField()),
                ('subject', models.BigIntegerField()),
                ('kind', models.SmallIntegerField()),
                ('value', models.BigIntegerField()),
                ('version', models.BigIntegerField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('value__gte', 0)), name='counter_not_negative')],
            },
        ),
    ]
