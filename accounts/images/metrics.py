"""Metrics of images."""

from prometheus_client import Counter, Histogram

UPLOADS = Counter("tideline_image_uploads_total", "Uploaded images by their result", ["outcome"])
ENCODING = Histogram(
    "tideline_image_encoding_seconds",
    "Time to decode and encode one upload",
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
STORE_FAILURES = Counter(
    "tideline_image_store_failures_total", "Failed calls of the store of files", ["kind"]
)
REMOVED = Counter("tideline_images_removed_total", "Images whose files were removed")
