import django.db.models.deletion
import django.db.models.functions.datetime
import moderation.types
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Report',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reporter_id', models.BigIntegerField()),
                ('account_id', models.BigIntegerField()),
                ('post_ids', models.JSONField(default=list)),
                ('comment', models.CharField(blank=True, default='', max_length=1000)),
                ('category', models.CharField(choices=[('spam', 'spam'), ('legal', 'legal'), ('violation', 'violation'), ('other', 'other')], max_length=16)),
                ('state', models.CharField(choices=[('open', 'open'), ('resolved', 'resolved')], db_default=moderation.types.ReportState['OPEN'], default=moderation.types.ReportState['OPEN'], max_length=8)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('resolved_at', models.DateTimeField(editable=False, null=True)),
                ('assignee', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('warn', 'warn'), ('limit', 'limit'), ('freeze', 'freeze'), ('suspend', 'suspend'), ('restore', 'restore'), ('purge', 'purge'), ('hide', 'hide'), ('show', 'show'), ('delete', 'delete'), ('assign', 'assign'), ('resolve', 'resolve'), ('reopen', 'reopen'), ('accept', 'accept'), ('reject', 'reject')], max_length=8)),
                ('account_id', models.BigIntegerField()),
                ('post_id', models.CharField(blank=True, default='', max_length=14)),
                ('image_id', models.BigIntegerField(null=True)),
                ('reason', models.CharField(max_length=500)),
                ('restrictions', models.SmallIntegerField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('report', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='moderation.report')),
            ],
        ),
        migrations.CreateModel(
            name='Appeal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.CharField(max_length=2000)),
                ('state', models.CharField(choices=[('pending', 'pending'), ('accepted', 'accepted'), ('rejected', 'rejected')], db_default=moderation.types.AppealState['PENDING'], default=moderation.types.AppealState['PENDING'], max_length=8)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('decided_at', models.DateTimeField(editable=False, null=True)),
                ('decision', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='appeal', to='moderation.decision')),
            ],
            options={
                'indexes': [models.Index(fields=['state', '-id'], name='appeal_queue')],
            },
        ),
        migrations.AddIndex(
            model_name='report',
            index=models.Index(fields=['state', '-id'], name='report_queue'),
        ),
        migrations.AddIndex(
            model_name='report',
            index=models.Index(fields=['assignee', '-id'], name='report_of_assignee'),
        ),
        migrations.AddIndex(
            model_name='report',
            index=models.Index(fields=['account_id', '-id'], name='report_of_account'),
        ),
        migrations.AddIndex(
            model_name='decision',
            index=models.Index(fields=['account_id', '-id'], name='decision_on_account'),
        ),
        migrations.AddIndex(
            model_name='decision',
            index=models.Index(condition=models.Q(('post_id', ''), _negated=True), fields=['post_id', '-id'], name='decision_on_post'),
        ),
        migrations.AddIndex(
            model_name='decision',
            index=models.Index(condition=models.Q(('image_id__isnull', False)), fields=['image_id', '-id'], name='decision_on_image'),
        ),
    ]
