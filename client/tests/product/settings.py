"""The settings of a small product, for the tests of `tideline_client.contrib.django`."""

import os

SECRET_KEY = "of the tests only"
USE_TZ = True
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "tideline_client.contrib.django",
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ.get("PRODUCT_DATABASE", ":memory:"),
    }
}
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
ROOT_URLCONF = "product.urls"
TIDELINE = {"URL": "https://feed.example.org", "TOKEN": "token"}
