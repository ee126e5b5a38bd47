//! The server itself, and posts: written, read, scheduled, edited, shared, voted on, deleted.
use crate::World;
use crate::checks::{Outcome, accepted, check, has, refused, that, until};
use chrono::{Duration, Utc};
use megalodon::entities::UploadMedia;
use megalodon::entities::{Attachment, Status, StatusVisibility};
use megalodon::megalodon::{
    EditStatusInputOptions, PollOptions, PostStatusInputOptions, PostStatusOutput,
};
use std::io::Cursor;

const VISIBILITIES: [StatusVisibility; 4] = [
    StatusVisibility::Public,
    StatusVisibility::Unlisted,
    StatusVisibility::Private,
    StatusVisibility::Direct,
];
/// A red picture of 16 x 16 points.
const PICTURE: &[u8] = include_bytes!("red.png");

pub async fn check_all(world: &World) {
    check("instance", instance(world)).await;
    check("activity", activity(world)).await;
    check("post, read, reply and context", thread(world)).await;
    for visibility in VISIBILITIES {
        check(
            &format!("visibility {visibility}"),
            visible(world, visibility),
        )
        .await;
    }
    check("edit and source", edit(world)).await;
    check("schedule, change and cancel", schedule(world)).await;
    check("favourite, bookmark, boost", share(world)).await;
    check("mute and pin", mute_and_pin(world)).await;
    check("poll", poll(world)).await;
    check("photo", photo(world)).await;
    check("delete", delete(world)).await;
    check("an empty post is refused", async {
        refused(422, world.me.post_status(String::new(), None).await)
    })
    .await;
}

/// A post of mine.
pub async fn publish(
    client: &crate::checks::Client,
    text: &str,
    options: PostStatusInputOptions,
) -> Result<Status, Box<dyn std::error::Error + Send + Sync>> {
    match client.post_status(text.into(), Some(&options)).await?.json {
        PostStatusOutput::Status(status) => Ok(status),
        PostStatusOutput::ScheduledStatus(_) => Err("it is scheduled".into()),
    }
}

async fn instance(world: &World) -> Outcome {
    let instance = world.guest.get_instance().await?.json;
    that(
        instance.configuration.statuses.max_characters > 0,
        "no longest text",
    )
}

async fn activity(world: &World) -> Outcome {
    let weeks = world.guest.get_instance_activity().await?.json;
    that(weeks.len() == 12, format!("{} weeks", weeks.len()))
}

async fn thread(world: &World) -> Outcome {
    let post = publish(&world.me, "hello #tideline from Rust", Default::default()).await?;
    let same = world.other.get_status(post.id.clone()).await?.json;
    that(
        same.content == post.content && same.account.id == world.mine.id,
        "another post",
    )?;
    let answer = PostStatusInputOptions {
        in_reply_to_id: Some(post.id.clone()),
        spoiler_text: Some("careful".into()),
        language: Some("de".into()),
        ..Default::default()
    };
    let reply = publish(&world.other, "eine Antwort", answer).await?;
    that(
        reply.spoiler_text == "careful" && reply.language.as_deref() == Some("de"),
        "not kept",
    )?;
    until(async || {
        let context = world
            .me
            .get_status_context(post.id.clone(), None)
            .await?
            .json;
        Ok(has(&context.descendants, &reply.id))
    })
    .await
}

async fn visible(world: &World, visibility: StatusVisibility) -> Outcome {
    let is_open = matches!(
        visibility,
        StatusVisibility::Public | StatusVisibility::Unlisted
    );
    let options = PostStatusInputOptions {
        visibility: Some(visibility),
        ..Default::default()
    };
    let status = publish(&world.me, "for some", options).await?;
    let seen = world.other.get_status(status.id).await;
    if is_open {
        Ok(seen.map(|_| ())?)
    } else {
        refused(404, seen)
    }
}

async fn edit(world: &World) -> Outcome {
    let post = publish(&world.me, "before", Default::default()).await?;
    let change = EditStatusInputOptions {
        status: Some("after".into()),
        ..Default::default()
    };
    let edited = world.me.edit_status(post.id.clone(), &change).await?.json;
    let source = world.me.get_status_source(post.id).await?.json;
    that(
        edited.edited_at.is_some() && source.text == "after",
        "not edited",
    )
}

async fn schedule(world: &World) -> Outcome {
    let at = Utc::now() + Duration::hours(1);
    let options = PostStatusInputOptions {
        scheduled_at: Some(at),
        ..Default::default()
    };
    let made = world
        .me
        .post_status("later".into(), Some(&options))
        .await?
        .json;
    let PostStatusOutput::ScheduledStatus(planned) = made else {
        return that(false, "it was posted at once");
    };
    let later = world
        .me
        .schedule_status(planned.id.clone(), Some(at + Duration::hours(1)))
        .await?
        .json;
    that(later.scheduled_at > planned.scheduled_at, "not later")?;
    let list = world.me.get_scheduled_statuses(None).await?.json;
    that(
        list.iter().any(|each| each.id == planned.id),
        "not in the list",
    )?;
    accepted(world.me.cancel_scheduled_status(planned.id.clone()).await)?;
    refused(404, world.me.get_scheduled_status(planned.id).await)
}

async fn share(world: &World) -> Outcome {
    let id = publish(&world.me, "share me", Default::default()).await?.id;
    let other = &world.other;
    that(
        other.favourite_status(id.clone()).await?.json.favourited == Some(true),
        "no favourite",
    )?;
    that(
        other.bookmark_status(id.clone()).await?.json.bookmarked == Some(true),
        "no bookmark",
    )?;
    that(
        has(&other.get_favourites(None).await?.json, &id),
        "not among the favourites",
    )?;
    that(
        has(&other.get_bookmarks(None).await?.json, &id),
        "not among the bookmarks",
    )?;
    let boost = other.reblog_status(id.clone()).await?.json;
    that(boost.reblog.is_some_and(|post| post.id == id), "no boost")?;
    until(async || {
        let people = world.me.get_status_reblogged_by(id.clone()).await?.json;
        Ok(people.len() == 1 && people[0].id == world.theirs.id)
    })
    .await?;
    that(
        other.unreblog_status(id.clone()).await?.json.reblogged == Some(false),
        "still boosted",
    )?;
    that(
        other.unfavourite_status(id.clone()).await?.json.favourited == Some(false),
        "still one",
    )?;
    that(
        other.unbookmark_status(id).await?.json.bookmarked == Some(false),
        "still a bookmark",
    )
}

async fn mute_and_pin(world: &World) -> Outcome {
    let id = publish(&world.me, "on top", Default::default()).await?.id;
    that(
        world.me.pin_status(id.clone()).await?.json.pinned == Some(true),
        "not pinned",
    )?;
    that(
        world.me.unpin_status(id.clone()).await?.json.pinned == Some(false),
        "still pinned",
    )?;
    that(
        world.me.mute_status(id.clone()).await?.json.muted == Some(true),
        "not muted",
    )?;
    that(
        world.me.unmute_status(id).await?.json.muted == Some(false),
        "still muted",
    )
}

async fn poll(world: &World) -> Outcome {
    let asked = PollOptions {
        options: vec!["this".into(), "that".into()],
        expires_in: Some(600),
        ..Default::default()
    };
    let options = PostStatusInputOptions {
        poll: Some(asked),
        ..Default::default()
    };
    let post = publish(&world.me, "which?", options).await?;
    let id = post.poll.ok_or("no poll")?.id;
    let voted = world.other.vote_poll(id.clone(), vec![1], None).await?.json;
    that(voted.voted == Some(true), "not voted")?;
    let again = world.other.get_poll(id).await?.json;
    that(
        again.votes_count == 1,
        format!("{} votes", again.votes_count),
    )
}

async fn photo(world: &World) -> Outcome {
    let reader = Box::new(Cursor::new(PICTURE));
    let made = world
        .me
        .upload_media_reader(reader, None, Some("red.png".into()))
        .await?
        .json;
    let id = match made {
        UploadMedia::Attachment(Attachment { id, .. }) => id,
        UploadMedia::AsyncAttachment(waiting) => waiting.id,
    };
    let options = PostStatusInputOptions {
        media_ids: Some(vec![id.clone()]),
        ..Default::default()
    };
    let post = publish(&world.me, "red", options).await?;
    that(
        post.media_attachments.iter().any(|each| each.id == id),
        "no photo at the post",
    )
}

async fn delete(world: &World) -> Outcome {
    let id = publish(&world.me, "soon gone", Default::default())
        .await?
        .id;
    world.me.delete_status(id.clone()).await?;
    refused(404, world.me.get_status(id).await)
}
