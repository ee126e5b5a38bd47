"""Django for the peers: the database and the Redis that the bench started, named by environment."""

import os

SECRET_KEY = "of a bench"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "actstream",
    "bench.peers.contenders",
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": os.environ["PEER_DATABASE"],
        "HOST": os.environ["PEER_HOST"],
        "USER": os.environ["PEER_USER"],
        # As Tideline has it: one connection that stays open.
        "CONN_MAX_AGE": None,
    }
}
REDIS_SOCKET = os.environ["PEER_REDIS_SOCKET"]
REDIS_DB, BROKER_DB = 1, 2
FEED_LENGTH = int(os.environ["PEER_FEED_LENGTH"])
