"""Direct posts are not in their author's count of posts. Else the functions of before.

Code of the version before writes no direct posts, and calls these functions in the same way.
"""

from importlib import import_module

from django.db import migrations

SHARDED = {"placement": "sharded"}
publishing = import_module("posts.migrations.0003_links_and_visibility")
deleting = import_module("posts.migrations.0006_edits")
# 3: CounterKind.POSTS, and Visibility.DIRECT. A move by zero gives the list its next version.
ADD, REMOVE = "counters_move(author, 0, 3, 1)", "counters_move(author, 0, 3, -1)"
ADD_UNLESS_DIRECT = ADD.replace("1)", "CASE new_visibility WHEN 3 THEN 0 ELSE 1 END)")
REMOVE_UNLESS_DIRECT = REMOVE.replace(
    "-1)", "CASE old_links ->> 'visibility' WHEN '3' THEN 0 ELSE -1 END)"
)
PUBLISH_BEFORE = publishing.PUBLISH.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")
PUBLISH = PUBLISH_BEFORE.replace(ADD, ADD_UNLESS_DIRECT)
DELETE = deleting.DELETE.replace(REMOVE, REMOVE_UNLESS_DIRECT)


class Migration(migrations.Migration):
    dependencies = [("posts", "0009_text_search")]

    operations = [
        migrations.RunSQL(PUBLISH, PUBLISH_BEFORE, hints=SHARDED),
        migrations.RunSQL(DELETE, deleting.DELETE, hints=SHARDED),
    ]
