"""Votes of polls, and the write of a vote.

The `outcome` of `posts_vote` is `voted`; or it says why nothing was written: `no_poll`, `expired`,
`no_choice` (an option does not exist), or `again` (the account has voted, or it chose several options
of a poll that allows one).
"""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

SHARDED = {"placement": "sharded"}
VOTE = """
CREATE FUNCTION posts_vote(
    author bigint, voted_moment bigint, voter bigint, chosen smallint[], now_s bigint,
    lane integer, change text, payload jsonb,
    OUT outcome text, OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
    asked jsonb;
    option_count integer;
BEGIN
    PERFORM accounts_lock(author);
    SELECT poll INTO asked FROM posts_post
    WHERE author_id = author AND moment = voted_moment AND deleted_at IS NULL AND hidden_at IS NULL;
    option_count := jsonb_array_length(asked -> 'options');
    IF asked IS NULL THEN
        outcome := 'no_poll';
    ELSIF (asked ->> 'expires_at_s')::bigint <= now_s THEN
        outcome := 'expired';
    ELSIF EXISTS (SELECT FROM unnest(chosen) AS one WHERE one < 0 OR one >= option_count) THEN
        outcome := 'no_choice';
    ELSIF cardinality(chosen) > 1 AND NOT (asked -> 'multiple')::boolean THEN
        outcome := 'again';
    ELSE
        INSERT INTO posts_pollvote (author_id, moment, voter_id, choices)
        VALUES (author, voted_moment, voter, chosen) ON CONFLICT DO NOTHING;
        outcome := CASE WHEN FOUND THEN 'voted' ELSE 'again' END;
    END IF;
    IF outcome <> 'voted' THEN
        RETURN;
    END IF;
    INSERT INTO posts_polltally AS t (author_id, moment, votes, voters)
    VALUES (author, voted_moment, ARRAY(
        SELECT (n = ANY (chosen))::integer FROM generate_series(0, option_count - 1) AS n), 1)
    ON CONFLICT (author_id, moment) DO UPDATE SET voters = t.voters + 1, votes = ARRAY(
        SELECT t.votes[n] + excluded.votes[n] FROM generate_series(1, option_count) AS n);
    SELECT * INTO change_id, changed_at FROM changes_append(lane, change, author, payload);
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("posts", "0006_edits")]

    operations = [
        migrations.CreateModel(
            name="PollTally",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "author_id",
                        "moment",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("author_id", models.BigIntegerField()),
                ("moment", models.BigIntegerField()),
                ("votes", ArrayField(models.IntegerField())),
                ("voters", models.IntegerField()),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="PollVote",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "author_id",
                        "moment",
                        "voter_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("author_id", models.BigIntegerField()),
                ("moment", models.BigIntegerField()),
                ("voter_id", models.BigIntegerField()),
                ("choices", ArrayField(models.SmallIntegerField())),
            ],
            options={
                "indexes": [models.Index(fields=["voter_id"], name="poll_vote_voter")],
            },
        ),
        migrations.RunSQL(VOTE, "DROP FUNCTION posts_vote;", hints=SHARDED),
    ]
