"""Settings of Django that are made of ours.

Django's settings for sending mails: MAILERS from Django 6.1 on, before it EMAIL_….

Django's STORAGES: where uploaded images are, and the static files of pages.

Django's TEMPLATES and folders of static files, with those of a theme before ours.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import django

from config.application_settings import BASE_DIR

_NONE = "django.core.mail.backends.dummy.EmailBackend"
_OPTIONS = {
    "EMAIL_HOST": "host",
    "EMAIL_PORT": "port",
    "EMAIL_HOST_USER": "username",
    "EMAIL_HOST_PASSWORD": "password",
    "EMAIL_USE_TLS": "use_tls",
    "EMAIL_USE_SSL": "use_ssl",
    "EMAIL_TIMEOUT": "timeout",
}
_DEFAULTS = {"EMAIL_PORT": 587, "EMAIL_TIMEOUT": 10}


def mail_settings(server: Mapping[str, Any]) -> dict[str, Any]:
    """By name, for a server as the URL describes it. Empty: mails are sent nowhere."""
    backend = server.get("EMAIL_BACKEND", _NONE)
    given = {name: server[name] for name in _OPTIONS if name in server}
    options = _DEFAULTS | given if "EMAIL_HOST" in given else given
    if django.VERSION < (6, 1):
        return {"EMAIL_BACKEND": backend, **options}
    named = {_OPTIONS[name]: value for name, value in options.items()}
    return {"MAILERS": {"default": {"BACKEND": backend, "OPTIONS": named}}}


_LOCAL = "accounts.images.folder.ImageFolder"
_S3 = "storages.backends.s3.S3Storage"
# `collectstatic` also writes each file compressed.
STATIC_STORE = "whitenoise.storage.CompressedStaticFilesStorage"
# Browsers keep what they have shown. Shared caches ask again: the post may be deleted or hidden.
_KEPT = "public, max-age=31536000, s-maxage=10, immutable"


def file_stores(
    folder: str, bucket: str, endpoint: str, region: str, inside: str = ""
) -> dict[str, Any]:
    """Images in a bucket if one is named, there `inside` a folder, else in the folder.

    The credentials of S3 come from boto3's own variables or files.
    """
    local = {"BACKEND": _LOCAL, "OPTIONS": {"location": folder}}
    options = _bucket_options(bucket, endpoint, region) | {"location": inside.lstrip("/")}
    remote = {"BACKEND": _S3, "OPTIONS": options}
    return {"default": remote if bucket else local, "staticfiles": {"BACKEND": STATIC_STORE}}


def _bucket_options(bucket: str, endpoint: str, region: str) -> dict[str, Any]:
    return {
        "bucket_name": bucket,
        "endpoint_url": endpoint or None,
        "region_name": region or None,
        "file_overwrite": True,
        "querystring_auth": False,
        "object_parameters": {"CacheControl": _KEPT},
    }


def theme_folders(folder: str, name: str) -> list[Path]:
    """This folder of the theme, if it has one."""
    inside = Path(folder) / name
    return [inside] if folder and inside.is_dir() else []


def templates(of_theme: list[Path]) -> list[dict[str, Any]]:
    """The engines. All that packages bring, and so the admin, is drawn by Django's templates."""
    return [
        {
            "BACKEND": "pages.template_environment.PageTemplates",
            "NAME": "jinja2",
            "DIRS": of_theme,
            "APP_DIRS": True,
            "OPTIONS": {
                "environment": "pages.template_environment.page_environment",
                "context_processors": ["pages.context.page_context"],
            },
        },
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            # Before the templates of Django's apps, so that the admin has our icon.
            "DIRS": [BASE_DIR / "config" / "templates"],
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        },
    ]
