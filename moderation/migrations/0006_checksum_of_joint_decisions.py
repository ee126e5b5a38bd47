from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('moderation', '0005_joint_decisions'),
    ]

    operations = [
        migrations.AddField(
            model_name='jointdecision',
            name='checksum',
            field=models.CharField(db_default='', default='', max_length=32),
        ),
    ]
