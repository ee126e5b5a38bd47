r"""A name has 100 characters as people see them, each of up to ten code points, such as a family.

The index cannot hold a word of more than 2,046 bytes. So it has the first 60 code points of each
word, and so has a search.
"""

from importlib import import_module

from django.db import migrations, models

# Second step: there was no first one. All that older code writes fits into the longer column.
BEFORE = import_module("accounts.migrations.0003_name_search")
WORDS = r"""
CREATE OR REPLACE FUNCTION accounts_words(raw text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT left(word, 60) FROM unnest(regexp_split_to_array(accounts_fold(raw),
    '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u303f]+')) AS word
    WHERE word <> '');
"""
DROP_INDEX = "DROP INDEX CONCURRENTLY IF EXISTS account_names;"
SHARDED = {"placement": "sharded"}


class Migration(migrations.Migration):
    atomic = False  # CONCURRENTLY runs outside of transactions
    dependencies = [("accounts", "0006_hidden_collections")]

    operations = [
        migrations.RunSQL(DROP_INDEX, BEFORE.CREATE_INDEX, hints=SHARDED),
        migrations.AlterField(
            "account",
            "display_name",
            models.CharField(blank=True, db_default="", max_length=1_000),
        ),
        migrations.RunSQL(WORDS, BEFORE.WORDS, hints=SHARDED),
        migrations.RunSQL(BEFORE.CREATE_INDEX, DROP_INDEX, hints=SHARDED),
    ]
