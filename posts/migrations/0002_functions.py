"""The functions of posts, as `functions.sql` has them, and the index of their results."""

from django.db import migrations

from infra.sharding.sql import functions_of

# search_words. 0: Visibility.PUBLIC; 0 and 1: Kind.POST and Kind.REPLY
# Without statistics: ANALYZE would make the terms of 30,000 posts, and the planner does not use them.
INDEX = """
CREATE INDEX post_terms ON posts_post USING gin (posts_terms(text, poll, media, spoiler_text, moment))
    WHERE deleted_at IS NULL AND hidden_at IS NULL AND visibility = 0 AND kind < 2;
ALTER INDEX post_terms ALTER COLUMN 1 SET STATISTICS 0;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("posts", "0001_initial"),
        ("accounts", "0002_functions"),
        ("changes", "0002_functions"),
        ("counters", "0002_functions"),
        ("images", "0002_functions"),
    ]

    operations = [
        migrations.RunSQL(functions_of("posts"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
        migrations.RunSQL(INDEX, migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
