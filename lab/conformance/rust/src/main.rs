//! megalodon-rs, a client of Rust programs: its methods against a server, by two new accounts.
mod checks;
mod people;
mod posts;

use checks::{Client, check, client, person, that};
use megalodon::entities::Account;
use std::error::Error;

/// Two people who know each other, and a guest.
pub struct World {
    pub guest: Client,
    pub me: Client,
    pub other: Client,
    pub mine: Account,
    pub theirs: Account,
}

#[tokio::main]
async fn main() {
    let made = meet().await;
    let text = made
        .as_ref()
        .err()
        .map(ToString::to_string)
        .unwrap_or_default();
    check("sign up", async { that(text.is_empty(), text) }).await;
    let Ok(world) = made else { return };
    posts::check_all(&world).await;
    people::check_all(&world).await;
    // The client waits for its stream even after that was given up.
    std::process::exit(0);
}

async fn meet() -> Result<World, Box<dyn Error + Send + Sync>> {
    let (me, other) = (person(1).await?, person(2).await?);
    let mine = me.verify_account_credentials().await?.json;
    let theirs = other.verify_account_credentials().await?.json;
    Ok(World {
        guest: client(None)?,
        me,
        other,
        mine,
        theirs,
    })
}
