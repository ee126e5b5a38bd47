import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Guard",
            fields=[
                ("move", models.BigIntegerField(primary_key=True, serialize=False)),
                ("token", models.BigIntegerField()),
                ("closed_until", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Mark",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "move",
                        "alias",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("move", models.BigIntegerField()),
                ("alias", models.CharField(max_length=32)),
                ("number", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="Move",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("source", models.CharField(max_length=32)),
                ("target", models.CharField(max_length=32)),
                ("mask", models.IntegerField()),
                ("values", models.JSONField()),
                (
                    "route",
                    models.CharField(
                        choices=[
                            ("move", "Move"),
                            ("undo", "Undo"),
                            ("abort", "Abort"),
                            ("complete", "Complete"),
                        ],
                        default="move",
                        max_length=16,
                    ),
                ),
                ("step", models.CharField(default="", max_length=32)),
                ("token", models.BigIntegerField(db_default=0, default=0)),
                ("epoch", models.PositiveIntegerField(null=True)),
                ("undo_epoch", models.PositiveIntegerField(null=True)),
                ("figures", models.JSONField(default=dict)),
                (
                    "began_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "stepped_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("is_finished", models.BooleanField(db_default=False, default=False)),
            ],
        ),
    ]
