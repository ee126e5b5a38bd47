//! Relations, lists, timelines, tags, notifications, filters, markers and streams.
use crate::World;
use crate::checks::{Client, Outcome, accepted, check, has, refused, that, until};
use crate::posts::publish;
use megalodon::entities::StatusVisibility;
use megalodon::entities::filter::FilterContext;
use megalodon::entities::notification::NotificationType;
use megalodon::megalodon::{
    PostStatusInputOptions, ReportInputOptions, UpdateCredentialsInputOptions,
};
use megalodon::streaming::Message;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::sleep;

pub async fn check_all(world: &World) {
    check("profile", profile(world)).await;
    check("look up and search", look_up(world)).await;
    check("block", block(world)).await;
    check("follow", follow(world)).await;
    check("note of an account", note(world)).await;
    check("home", home(world)).await;
    check("public", public(world)).await;
    check("list", list(world)).await;
    check("tags", tags(world)).await;
    check("conversations", conversations(world)).await;
    check("notifications", notifications(world)).await;
    check("filter", filter(world)).await;
    check("report", report(world)).await;
    check("suggestions", async {
        Ok(world.me.get_suggestions(Some(5)).await.map(|_| ())?)
    })
    .await;
    check("preferences", async {
        Ok(world.me.get_preferences().await.map(|_| ())?)
    })
    .await;
    check("stream of a WebSocket", stream(world)).await;
    check("mute", mute(world)).await;
    check("unmute", unmute(world)).await;
}

async fn profile(world: &World) -> Outcome {
    let change = UpdateCredentialsInputOptions {
        display_name: Some("Rust".into()),
        note: Some("writes in Rust".into()),
        ..Default::default()
    };
    let changed = world.me.update_credentials(Some(&change)).await?.json;
    that(
        changed.display_name == "Rust" && changed.note.contains("writes in Rust"),
        "not changed",
    )
}

async fn look_up(world: &World) -> Outcome {
    let same = world
        .me
        .lookup_account(world.theirs.acct.clone())
        .await?
        .json;
    that(same.id == world.theirs.id, "another account")?;
    let people = world
        .me
        .search_account(world.theirs.username.clone(), None)
        .await?
        .json;
    that(people.len() == 1, format!("{} people", people.len()))
}

async fn mute(world: &World) -> Outcome {
    let muted = world
        .me
        .mute_account(world.theirs.id.clone(), true)
        .await?
        .json;
    that(muted.muting, "not muted")
}

async fn unmute(world: &World) -> Outcome {
    let related = world.me.unmute_account(world.theirs.id.clone()).await?.json;
    that(!related.muting, "still muted")
}

async fn block(world: &World) -> Outcome {
    let (me, id) = (&world.me, &world.theirs.id);
    that(
        me.block_account(id.clone()).await?.json.blocking,
        "not blocked",
    )?;
    that(
        !me.unblock_account(id.clone()).await?.json.blocking,
        "still blocked",
    )
}

async fn follow(world: &World) -> Outcome {
    let (me, id) = (&world.me, &world.theirs.id);
    that(
        me.follow_account(id.clone(), None).await?.json.following,
        "not followed",
    )?;
    let following = me
        .get_account_following(world.mine.id.clone(), None)
        .await?
        .json;
    that(following.len() == 1, "not in the list")?;
    until(async || {
        Ok(world
            .other
            .get_account_followers(id.clone(), None)
            .await?
            .json
            .len()
            == 1)
    })
    .await?;
    let related = me.get_relationships(vec![id.clone()]).await?.json;
    that(related[0].following, "no relation")
}

async fn note(world: &World) -> Outcome {
    let id = world.theirs.id.clone();
    let related = world
        .me
        .set_account_note(id, Some("met in Rust".into()))
        .await?
        .json;
    that(related.note.as_deref() == Some("met in Rust"), "no note")
}

async fn home(world: &World) -> Outcome {
    let said = publish(&world.other, "for home", Default::default()).await?;
    until(async || Ok(has(&world.me.get_home_timeline(None).await?.json, &said.id))).await
}

async fn public(world: &World) -> Outcome {
    let said = publish(&world.other, "for everybody", Default::default()).await?;
    until(async || {
        Ok(has(
            &world.guest.get_public_timeline(None).await?.json,
            &said.id,
        ))
    })
    .await
}

async fn list(world: &World) -> Outcome {
    let me = &world.me;
    let list = me.create_list("Rust people".into()).await?.json;
    let person = vec![world.theirs.id.clone()];
    accepted(
        me.add_accounts_to_list(list.id.clone(), person.clone())
            .await,
    )?;
    let members = me.get_accounts_in_list(list.id.clone(), None).await?.json;
    that(members.len() == 1, format!("{} members", members.len()))?;
    let said = publish(&world.other, "for the list", Default::default()).await?;
    until(async || {
        Ok(has(
            &me.get_list_timeline(list.id.clone(), None).await?.json,
            &said.id,
        ))
    })
    .await?;
    accepted(me.delete_accounts_from_list(list.id.clone(), person).await)?;
    accepted(me.delete_list(list.id.clone()).await)?;
    refused(404, me.get_list(list.id).await)
}

async fn tags(world: &World) -> Outcome {
    let (me, tag) = (&world.me, String::from("crabs"));
    that(
        me.follow_tag(tag.clone()).await?.json.following == Some(true),
        "not followed",
    )?;
    let followed = me.get_followed_tags().await?.json;
    that(
        followed.iter().any(|each| each.name == tag),
        "not in the list",
    )?;
    that(
        me.unfollow_tag(tag.clone()).await?.json.following == Some(false),
        "still followed",
    )?;
    let said = publish(me, "about #crabs", Default::default()).await?;
    let posts = async || {
        Ok(has(
            &world.other.get_tag_timeline(tag.clone(), None).await?.json,
            &said.id,
        ))
    };
    until(posts).await?;
    until(async || Ok(!me.search(tag.clone(), None).await?.json.hashtags.is_empty())).await
}

async fn conversations(world: &World) -> Outcome {
    let options = PostStatusInputOptions {
        visibility: Some(StatusVisibility::Direct),
        ..Default::default()
    };
    let text = format!("@{} an aside", world.mine.acct);
    publish(&world.other, &text, options).await?;
    let me = &world.me;
    until(async || {
        Ok(me
            .get_conversation_timeline(None)
            .await?
            .json
            .iter()
            .any(|c| c.unread))
    })
    .await?;
    let id = me.get_conversation_timeline(None).await?.json[0].id.clone();
    that(!me.read_conversation(id).await?.json.unread, "still unread")
}

async fn notifications(world: &World) -> Outcome {
    let me = &world.me;
    until(async || {
        let list = me.get_notifications(None).await?.json;
        Ok(list
            .iter()
            .any(|each| each.r#type == NotificationType::Mention))
    })
    .await?;
    let first = me.get_notifications(None).await?.json[0].id.clone();
    accepted(me.dismiss_notification(first.clone()).await)?;
    refused(404, me.get_notification(first).await)?;
    accepted(me.dismiss_notifications().await)?;
    that(
        me.get_notifications(None).await?.json.is_empty(),
        "some are left",
    )
}

async fn filter(world: &World) -> Outcome {
    let me = &world.me;
    let made = me
        .create_filter("spoiler".into(), vec![FilterContext::Home], None)
        .await?
        .json;
    that(
        me.get_filters()
            .await?
            .json
            .iter()
            .any(|each| each.id == made.id),
        "not in the list",
    )?;
    accepted(me.delete_filter(made.id.clone()).await)?;
    refused(404, me.get_filter(made.id).await)
}

async fn report(world: &World) -> Outcome {
    let options = ReportInputOptions {
        comment: Some("not nice".into()),
        ..Default::default()
    };
    let made = world
        .other
        .report(world.mine.id.clone(), Some(&options))
        .await?
        .json;
    that(!made.id.is_empty(), "no id")
}

/// Posts until the stream tells of a post: it may begin a moment later.
async fn stream(world: &World) -> Outcome {
    let was_told = Arc::new(AtomicBool::new(false));
    let (told, author) = (was_told.clone(), world.theirs.id.clone());
    let user = world.me.user_streaming().await;
    let listening = tokio::spawn(async move {
        let take = Box::new(move |message| {
            let is_theirs = matches!(&message, Message::Update(post) if post.account.id == author);
            told.fetch_or(is_theirs, Ordering::Relaxed);
            Box::pin(async {}) as std::pin::Pin<Box<dyn Future<Output = ()> + Send>>
        });
        user.listen(take).await;
    });
    while !was_told.load(Ordering::Relaxed) {
        said(&world.other).await?;
        sleep(Duration::from_millis(300)).await;
    }
    listening.abort();
    Ok(())
}

async fn said(client: &Client) -> Outcome {
    publish(client, "for the stream", Default::default())
        .await
        .map(|_| ())
}
