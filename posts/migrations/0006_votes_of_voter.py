"""The newest votes of a voter are read by an index. It is made while people vote."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("posts", "0005_quotes")]

    operations = [
        AddIndexConcurrently(
            model_name="pollvote",
            index=models.Index(fields=["voter_id", "-moment"], name="poll_vote_of_voter"),
        ),
        RemoveIndexConcurrently(model_name="pollvote", name="poll_vote_voter"),
    ]
