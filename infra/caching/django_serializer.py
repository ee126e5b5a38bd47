"""The serializer of Django's cache: JSON, and an entry that is no JSON is a miss."""

from typing import Any

from django_redis.serializers.json import JSONSerializer  # type: ignore[import-untyped]

from infra.caching.decoding import decode


class MissingJSONSerializer(JSONSerializer):
    """`loads` gives None for an undecodable entry, which Django's cache takes for a miss."""

    def loads(self, value: bytes) -> Any:
        return decode("django", super().loads, value)
