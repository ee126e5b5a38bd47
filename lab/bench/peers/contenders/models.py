"""The tables of a plain feed: posts and follows, with indexes for their queries."""

from django.contrib.auth.models import User
from django.db import models


class FeedPost(models.Model):  # noqa: DJ008 - never printed
    author = models.ForeignKey(User, models.CASCADE, db_index=False)
    text = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index("author", models.F("id").desc(), name="feedpost_of_author")]


class FeedFollow(models.Model):  # noqa: DJ008
    follower = models.ForeignKey(User, models.CASCADE, db_index=False, related_name="+")
    followee = models.ForeignKey(User, models.CASCADE, db_index=False, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=("follower", "followee"), name="one_follow")]
        indexes = [models.Index(fields=("followee", "follower"), name="follow_of_followee")]
