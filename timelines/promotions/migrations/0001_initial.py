import django.core.validators
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Campaign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('kind', models.CharField(choices=[('post', 'post'), ('account', 'account'), ('ad', 'ad')], max_length=8)),
                ('post_id', models.CharField(blank=True, default='', max_length=14)),
                ('account_id', models.BigIntegerField(blank=True, null=True)),
                ('ad_title', models.CharField(blank=True, default='', max_length=100)),
                ('ad_text', models.CharField(blank=True, default='', max_length=500)),
                ('ad_url', models.CharField(blank=True, default='', max_length=200, validators=[django.core.validators.URLValidator(['https'], message='Give a link that begins with https://.')])),
                ('slot', models.PositiveSmallIntegerField(default=3)),
                ('every', models.PositiveSmallIntegerField(default=20)),
                ('daily_cap', models.PositiveSmallIntegerField(default=1)),
                ('total_cap', models.BigIntegerField(blank=True, null=True)),
                ('audience_percent', models.PositiveSmallIntegerField(default=100)),
                ('starts_at', models.DateTimeField()),
                ('ends_at', models.DateTimeField()),
                ('is_paused', models.BooleanField(default=False)),
                ('given_out', models.BigIntegerField(db_default=0, default=0, editable=False)),
                ('served', models.BigIntegerField(db_default=0, default=0, editable=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
            ],
        ),
    ]
