"""Django's settings for contenders. The environment names the database and Redis of the bench."""

import os

SECRET_KEY = "of a bench"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "actstream",
    "lab.bench.peers.contenders",
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": os.environ["PEER_DATABASE"],
        "HOST": os.environ["PEER_HOST"],
        "USER": os.environ["PEER_USER"],
        # One connection that stays open, as in Tideline.
        "CONN_MAX_AGE": None,
    }
}
REDIS_SOCKET = os.environ["PEER_REDIS_SOCKET"]
REDIS_DB, BROKER_DB = 1, 2
FEED_LENGTH = int(os.environ["PEER_FEED_LENGTH"])
