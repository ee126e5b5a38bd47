"""`accounts_lock`: the row lock of an account, for the functions of other apps that write."""

from django.db import migrations

LOCK = """
CREATE FUNCTION accounts_lock(account bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    -- NO KEY: statements that insert foreign keys to the row do not wait.
    PERFORM FROM accounts_account WHERE id = account FOR NO KEY UPDATE;
    RETURN FOUND;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.RunSQL(
            LOCK, "DROP FUNCTION accounts_lock(bigint);", hints={"placement": "sharded"}
        )
    ]
