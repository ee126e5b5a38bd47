"""Django's STORAGES: where uploaded images are, and the static files of pages."""

from typing import Any

_LOCAL = "accounts.images.folder.ImageFolder"
_S3 = "storages.backends.s3.S3Storage"
# `collectstatic` also writes each file compressed.
_STATIC = "whitenoise.storage.CompressedStaticFilesStorage"
# Browsers keep what they have shown. Shared caches ask again: the post may be deleted or hidden.
_KEPT = "public, max-age=31536000, s-maxage=10, immutable"


def file_stores(folder: str, bucket: str, endpoint: str, region: str) -> dict[str, Any]:
    """Images in a bucket if one is named, else in the folder.

    The credentials of S3 come from boto3's own variables or files.
    """
    local = {"BACKEND": _LOCAL, "OPTIONS": {"location": folder}}
    remote = {"BACKEND": _S3, "OPTIONS": _bucket_options(bucket, endpoint, region)}
    return {"default": remote if bucket else local, "staticfiles": {"BACKEND": _STATIC}}


def _bucket_options(bucket: str, endpoint: str, region: str) -> dict[str, Any]:
    return {
        "bucket_name": bucket,
        "endpoint_url": endpoint or None,
        "region_name": region or None,
        "file_overwrite": True,
        "querystring_auth": False,
        "object_parameters": {"CacheControl": _KEPT},
    }
