"""Metrics of images."""

from prometheus_client import Counter, Histogram

UPLOADS = Counter(
    "tideline_image_uploads_total",
    "Uploads: `stored`, or the error that the client got",
    ["outcome"],
)
ENCODING = Histogram(
    "tideline_image_encoding_seconds",
    "Time to decode and encode one upload, a histogram",
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
STORE_FAILURES = Counter(
    "tideline_image_store_failures_total",
    "Calls of the store of images that failed or took too long",
    ["kind"],
)
REMOVED = Counter("tideline_images_removed_total", "Images whose files were deleted")
