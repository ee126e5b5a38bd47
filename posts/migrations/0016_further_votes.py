"""A poll that allows several options takes further ones of an account that has voted.

`posts_vote` says `again` if the account has already chosen one of the options.
"""

from importlib import import_module

from django.db import migrations

before = import_module("posts.migrations.0007_polls")
ONE_VOTE = """        INSERT INTO posts_pollvote (author_id, moment, voter_id, choices)
        VALUES (author, voted_moment, voter, chosen) ON CONFLICT DO NOTHING;
"""
FURTHER_VOTES = """        INSERT INTO posts_pollvote AS v (author_id, moment, voter_id, choices)
        VALUES (author, voted_moment, voter, chosen)
        ON CONFLICT (author_id, moment, voter_id) DO UPDATE SET choices = v.choices || chosen
        WHERE (asked -> 'multiple')::boolean AND NOT v.choices && chosen
        RETURNING (v.choices = chosen)::integer INTO new_voters;
"""
FURTHER = (
    before.VOTE.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")
    .replace(ONE_VOTE, FURTHER_VOTES)
    .replace("    option_count integer;\n", "    option_count integer;\n    new_voters integer;\n")
    .replace("AS n), 1)", "AS n), new_voters)")
    .replace("voters = t.voters + 1", "voters = t.voters + new_voters")
)
BEFORE = before.VOTE.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")


class Migration(migrations.Migration):
    dependencies = [("posts", "0015_ended_polls")]

    operations = [migrations.RunSQL(FURTHER, BEFORE, hints={"placement": "sharded"})]
