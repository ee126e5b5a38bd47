"""Scheduled posts from drafts, and drafts from scheduled posts."""

import msgspec

from accounts.images.errors import ImageNotFound
from accounts.images.queries.attachments import load_attachments
from posts.actions.check_quote import with_quoted
from posts.errors import ImagesTaken
from posts.ids import PostId
from posts.queries.answerable import get_answerable
from posts.scheduled.types import PollParams, PostParams
from posts.types import Draft, NewPoll, QuotePolicy, ReplyPolicy, Visibility


def params_of(draft: Draft, application_id: int | None, now_s: float) -> PostParams:
    """What is kept of a draft. Its poll lasts as long as it would if it began now."""
    return PostParams(
        draft.text,
        draft.sensitive,
        draft.spoiler_text,
        draft.visibility.name.lower(),
        draft.language,
        draft.in_reply_to.public if draft.in_reply_to else None,
        tuple(image["id"] for image in draft.media),
        _keep_poll(draft.poll, int(now_s)),
        draft.application,
        application_id,
        draft.quoted.public if draft.quoted else None,
        draft.quote_policy.public,
        draft.reply_policy.public,
        draft.post_type,
        draft.custom,
    )


def draft_of(author_id: int, params: PostParams, now_s: float) -> Draft:
    """The post as it is published now. The posts it answers and quotes must be there, and its
    images, and their authors must still let it.

    Raises: ParentNotFound, CannotReply, ImagesTaken, QuotedNotFound, CannotQuote. Cost: a query
    with images, and as `get_answerable` and `get_quotable`.
    """
    draft = Draft(
        params.text,
        params.sensitive,
        params.spoiler_text,
        params.language,
        visibility=Visibility[params.visibility.upper()],
        media=_load_images(author_id, params),
        poll=_begin_poll(params.poll, int(now_s)),
        application=params.application,
        quote_policy=QuotePolicy[params.quote_policy.upper()],
        reply_policy=ReplyPolicy[params.reply_policy.upper()],
        post_type=params.post_type,
        custom=params.custom,
    )
    if params.quoted is not None:
        draft = with_quoted(author_id, draft, PostId.from_public(params.quoted))
    if params.in_reply_to is None:
        return draft
    parent = PostId.from_public(params.in_reply_to)
    original, thread = get_answerable(parent, author_id, draft.visibility)
    return msgspec.structs.replace(draft, in_reply_to=original, thread=thread)


def _keep_poll(poll: NewPoll | None, now_s: int) -> PollParams | None:
    if poll is None:
        return None
    lasts_s = poll.expires_at_s - now_s
    return PollParams(poll.options, poll.multiple, poll.hide_totals, lasts_s)


def _begin_poll(poll: PollParams | None, now_s: int) -> NewPoll | None:
    if poll is None:
        return None
    return NewPoll(poll.options, poll.multiple, poll.hide_totals, now_s + poll.expires_in_s)


def _load_images(author_id: int, params: PostParams) -> tuple[dict[str, object], ...]:
    if not params.media_ids:
        return ()
    try:
        images = load_attachments(author_id, params.media_ids)
    except ImageNotFound:
        raise ImagesTaken from None
    return tuple(map(msgspec.to_builtins, images))
