from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('lists', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='accountlist',
            name='exclusive',
            field=models.BooleanField(db_default=False),
        ),
    ]
