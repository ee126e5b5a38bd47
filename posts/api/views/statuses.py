"""Endpoints that publish, read and delete a post, and read its conversation."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

import msgspec
from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema

from accounts.images.api.parse import find_image_ids
from accounts.images.errors import ImageNotFound
from accounts.images.queries.attachments import load_attachments
from accounts.queries.tokens import find_client_name
from counters.own_counts import with_own_acts
from infra.api.endpoint import Endpoint
from infra.api.entity_tags import CONDITIONAL, NOT_MODIFIED, tagged_response
from infra.api.errors import InvalidCursor, InvalidRequest
from infra.api.live_parts import fill_unopened
from infra.api.pages import link_header
from infra.api.parsing import read_flag, read_limit
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.caching.questions import answer
from infra.caching.remembered_answers import remembered
from infra.changes.own_acts import ask_own_acts
from infra.clock import now_ms
from posts.actions.apply_defaults import apply_defaults
from posts.actions.check_draft import (
    check_content,
    check_draft,
    check_edited,
    check_key,
)
from posts.actions.check_own_data import check_same_type, find_custom, find_type
from posts.actions.check_poll import check_edited_poll, check_poll, refuse_with_images
from posts.actions.check_quote import (
    check_same_quote,
    find_quote_policy,
    find_quoted_id,
    with_quoted,
)
from posts.actions.check_reply import check_parent, find_reply_policy
from posts.actions.create_post import publish_post
from posts.actions.delete_post import delete_post
from posts.actions.edit_post import edit_post
from posts.actions.set_policies import set_policies
from posts.api import schema
from posts.api.images import read_image_texts, with_kept_images
from posts.errors import ImagesTaken, PostNotFound, PublishedPostGone
from posts.fragments.present import with_source
from posts.fragments.read import find_target
from posts.ids import MalformedPostId, PostId
from posts.queries.answerable import get_answerable
from posts.queries.context import WHOLE, Part, load_context
from posts.queries.interactions import (
    ask_own_view,
    get_any_original,
    get_interaction_json,
    get_own_row,
    get_published_json,
)
from posts.reading.statuses import load_status_json
from posts.scheduled.actions.schedule import schedule_post
from posts.scheduled.api.parse import find_due
from posts.scheduled.api.schema import ScheduledStatusEntity
from posts.scheduled.api.views import answer_scheduled
from posts.scheduled.draft_of import params_of
from posts.scheduled.queries.scheduled import find_by_key
from posts.types import Draft, PostRow

PUBLISHED_OR_SCHEDULED = PolymorphicProxySerializer(
    "PublishedOrScheduled", [schema.StatusEntity, ScheduledStatusEntity], None
)

# Of a part that was asked for, as JSON.
MOST_BYTES_OF_PART = 500_000


class StatusesView(Endpoint):
    """Publish a post, or read several posts."""

    scopes = {"GET": "read:statuses", "POST": "write:statuses"}
    public = True

    @extend_schema(parameters=[schema.STATUS_IDS], responses=schema.StatusEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        """Those of up to 40 posts that the caller may see, in the order asked, each once."""
        statuses = load_status_json(_read_ids(request.id_list), request.viewer_id)
        return json_response(b"[%b]" % b",".join(statuses.values()))

    @extend_schema(
        parameters=[schema.IDEMPOTENCY_KEY],
        request=schema.StatusBody,
        responses={200: PUBLISHED_OR_SCHEDULED, 404: schema.NO_PARENT, 410: schema.POST_GONE},
    )
    def post(self, request: ApiRequest) -> HttpResponse:
        """Publish a post or a reply. A repeated Idempotency-Key returns the first post.

        If that post was deleted in the meantime, the answer is 410.

        With `scheduled_at` it is published then, and the answer is a ScheduledStatus.
        """
        now_s, author_id = time.time(), request.account_id
        key = check_key(request.headers.get("Idempotency-Key"))
        due_ms = find_due(request.data)
        if due_ms is not None and key and (known := find_by_key(author_id, key, now_ms())):
            # Its images and what it answers may have changed since.
            return answer_scheduled(author_id, known)
        draft = _read_draft(request, now_s)
        if due_ms is not None:
            return _schedule(request, draft, due_ms, key, now_s)
        return json_response(_publish(author_id, draft, key))


class StatusView(Endpoint):
    """One post."""

    scopes = {"GET": "read:statuses", "PUT": "write:statuses", "DELETE": "write:statuses"}
    public = True
    is_quick = True

    @extend_schema(parameters=CONDITIONAL, responses={200: schema.StatusEntity, 304: NOT_MODIFIED})
    @remembered
    def get(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        return tagged_response(request, _get_status_json(status_id, request.viewer_id))

    @extend_schema(request=schema.EditBody, responses=schema.StatusEntity)
    def put(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        """Edit your own post. Texts and flags that are not sent become empty.

        It keeps its images, its poll and `custom` if these are not sent. Other options, or another
        number of choices, reset the votes of the poll. `media_attributes` changes what its images
        say. It keeps its type and what it quotes, and without `quote_approval_policy` and
        `reply_approval_policy` also who may quote it and reply. That is a second step: after a 503
        send all again.
        """
        old = get_own_row(request.account_id, status_id)
        check_edited(request.data, old.visibility)
        check_same_quote(request.data, old.quoted)
        check_same_type(request.data, old.post_type)
        policies = find_quote_policy(request.data), find_reply_policy(request.data)
        poll = check_edited_poll(request.data, old.poll, time.time())
        draft = msgspec.structs.replace(
            _read_edit(request, old), poll=poll, custom=find_custom(request)
        )
        refuse_with_images(draft, old)
        edit_post(old, draft, read_image_texts(request.data, draft.media))
        if policies != (None, None):
            set_policies(status_id, *policies)
        return json_response(get_interaction_json(request.account_id, status_id, status_id))

    @extend_schema(parameters=[schema.DELETE_MEDIA], responses={200: schema.DeletedStatusEntity})
    def delete(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        """Delete your own post. Posts of other accounts answer 404."""
        if status_id.author_id != request.account_id:
            raise PostNotFound
        keeps_images = not read_flag(request.data, "delete_media")
        original = get_any_original(status_id)
        status = get_interaction_json(request.account_id, status_id, original)
        status = fill_unopened(status, request.account_id)  # a deleted post has no poll
        target = find_target(status, status_id, original)
        text = delete_post(status_id, keeps_images, target)
        if keeps_images:
            status = with_kept_images(status_id.author_id, status)
        return json_response(with_source(status, text))


class ContextView(Endpoint):
    """The conversation around a post: the posts it answers, and its replies."""

    scopes = {"GET": "read:statuses"}
    public = True

    @extend_schema(responses=schema.ContextEntity, parameters=schema.PART_OF_THREAD)
    def get(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        """Without `limit` all of it: up to 4,096 posts above and below and 8 MB, for guests 40 and
        60. With it a part of at most 500 kB, and a link to the next one."""
        context = load_context(status_id, request.viewer_id, _read_part(request.GET))
        body = b'{"ancestors":[%b],"descendants":[%b]}'
        response = json_response(body % (b",".join(context[0]), b",".join(context[1])))
        if context.last is not None:
            url = f"{settings.PUBLIC_URL}{request.path}"
            response["Link"] = link_header(url, request.GET, context.last.public, None)
        return response


def _read_part(query: Mapping[str, str]) -> Part:
    """Raises: InvalidRequest, InvalidCursor."""
    after = query.get("max_id")
    limit = query.get("limit")
    if limit is None and not after:
        return WHOLE
    try:
        below = PostId.from_cursor(after) if after else None
    except MalformedPostId:
        raise InvalidCursor from None
    return Part(read_limit(limit, WHOLE.limit, WHOLE.limit), MOST_BYTES_OF_PART, below)


def _read_ids(texts: Sequence[str]) -> list[PostId]:
    """Without texts that are no ids. Raises: InvalidRequest for too many."""
    if len(texts) > schema.MOST_AT_ONCE:
        raise InvalidRequest(f"At most {schema.MOST_AT_ONCE} posts at once")
    ids = []
    for text in texts:
        with suppress(MalformedPostId):
            ids.append(PostId.from_public(text))
    return ids


def _read_draft(request: ApiRequest, now_s: float) -> Draft:
    """The draft in the request.

    Raises: ParentNotFound if the author may not see the parent, CannotReply; and the errors of
    check_draft and with_quoted.
    """
    image_ids = find_image_ids(request.data)
    quoted = find_quoted_id(request.data)
    checked = check_draft(request.data, bool(image_ids or quoted))
    draft = _with_images(request, checked, image_ids)
    draft = apply_defaults(request.account_id, draft, request.data)
    client = find_client_name(request.user.application_id)
    draft = msgspec.structs.replace(
        draft,
        poll=check_poll(request.data, now_s),
        application=client,
        post_type=find_type(request.data),
        custom=find_custom(request),
    )
    refuse_with_images(draft)
    if quoted is not None:
        draft = with_quoted(request.account_id, draft, quoted)
    parent = check_parent(request.data)
    if parent is None:
        return draft
    original, thread = get_answerable(parent, request.account_id, draft.visibility)
    return msgspec.structs.replace(draft, in_reply_to=original, thread=thread)


def _publish(author_id: int, draft: Draft, key: str | None) -> bytes:
    """Publishes it, and its Status. Raises: PublishedPostGone, and what `publish_post` raises."""
    asked = ask_own_view(author_id)
    post = publish_post(author_id, draft, key, asked=asked)
    try:
        status = get_published_json(author_id, post, asked)
    except PostNotFound:
        raise PublishedPostGone from None
    if draft.quoted is None:
        return status
    # The quoted post counts this quote before the drain has recorded it.
    whole = fill_unopened(status, author_id)
    return with_own_acts(whole, author_id, answer(ask_own_acts(author_id)))


def _schedule(
    request: ApiRequest, draft: Draft, due_ms: int, key: str | None, now_s: float
) -> HttpResponse:
    author_id, at_ms = request.account_id, now_ms()
    params = params_of(draft, request.user.application_id, now_s)
    scheduled = schedule_post(author_id, params, due_ms, key or "", at_ms)
    return answer_scheduled(author_id, scheduled)


def _read_edit(request: ApiRequest, old: PostRow) -> Draft:
    """The draft in the request. Without `media_ids` the post keeps its images."""
    image_ids = find_image_ids(request.data)
    if image_ids is None:
        draft = check_content(request.data, bool(old.media or old.quoted))
        return msgspec.structs.replace(draft, media=tuple(old.media or ()))
    draft = check_content(request.data, bool(image_ids or old.quoted))
    return _with_images(request, draft, image_ids)


def _with_images(request: ApiRequest, draft: Draft, image_ids: Sequence[int] | None) -> Draft:
    """The draft with these images of the caller. Raises: ImagesTaken if one is not available."""
    if not image_ids:
        return draft
    try:
        images = load_attachments(request.account_id, image_ids)
    except ImageNotFound:
        raise ImagesTaken from None
    return msgspec.structs.replace(draft, media=tuple(map(msgspec.to_builtins, images)))


def _get_status_json(post_id: PostId, viewer_id: int | None) -> bytes:
    """The Status entity of one post. Raises: PostNotFound."""
    statuses = load_status_json([post_id], viewer_id)
    if not statuses:
        raise PostNotFound
    return statuses[post_id]
