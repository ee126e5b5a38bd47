"""Accounts can be renamed: former names stay reserved."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


# After the row, because only then another transaction that frees the name has ended.
RESERVE = """
CREATE FUNCTION accounts_refuse_former_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM accounts_formername AS former
        WHERE former.username = NEW.username AND former.user_id <> NEW.id)
    THEN
        RAISE unique_violation USING MESSAGE = 'this was the name of another account',
            CONSTRAINT = 'accounts_formername_pkey';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER refuse_former_name AFTER INSERT OR UPDATE OF username ON accounts_user
FOR EACH ROW EXECUTE FUNCTION accounts_refuse_former_name();
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_default_quote_policy")]

    operations = [
        migrations.CreateModel(
            name="FormerName",
            fields=[
                ("username", models.CharField(max_length=30, primary_key=True, serialize=False)),
                ("renamed_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="former_names",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.RunSQL(RESERVE, migrations.RunSQL.noop, hints={"placement": "global"}),
    ]
