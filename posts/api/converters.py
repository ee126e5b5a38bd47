"""Post ids in routes."""

from posts.ids import PostId


class PostIdConverter:
    """`<post:status_id>`: a PostId. What cannot name a post matches no route: 404."""

    regex = "[0-9a-z]{14}"

    def to_python(self, value: str) -> PostId:
        return PostId.from_public(value)

    def to_url(self, value: PostId) -> str:
        return value.public
