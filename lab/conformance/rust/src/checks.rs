//! The checks of a client run one after another; each prints one line of JSON with its outcome.
use megalodon::entities::Status;
use megalodon::error::{Error, OwnError};
use megalodon::megalodon::AppInputOptions;
use megalodon::{Megalodon, SNS};
use std::env;
use std::error::Error as AnyError;
use std::future::Future;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::{sleep, timeout};

pub type Outcome = Result<(), Box<dyn AnyError + Send + Sync>>;
pub type Client = Box<dyn Megalodon + Send + Sync>;

const PASSWORD: &str = "correct horse battery staple";
const LONGEST: Duration = Duration::from_secs(20);
const OUT_OF_BAND: &str = "urn:ietf:wg:oauth:2.0:oob";

pub async fn check(name: &str, run: impl Future<Output = Outcome>) {
    let text = match timeout(LONGEST, run).await {
        Ok(Ok(())) => String::new(),
        Ok(Err(error)) => format!("{error}."),
        Err(_) => "no answer in time".into(),
    };
    let line = serde_json::json!({"name": name, "passed": text.is_empty(), "text": text});
    println!("{line}");
}

pub fn that(holds: bool, text: impl Into<String>) -> Outcome {
    if holds {
        Ok(())
    } else {
        Err(text.into().into())
    }
}

/// The call was answered with this status.
pub fn refused<T>(status: u16, answer: Result<T, Error>) -> Outcome {
    match answer {
        Ok(_) => that(false, "it was accepted"),
        Err(Error::OwnError(OwnError {
            status: answered, ..
        })) => that(
            answered == Some(status),
            format!("answered {answered:?} and not {status}"),
        ),
        Err(error) => Err(error.into()),
    }
}

/// The call went through. Mastodon answers some calls with `{}`, which the client cannot read.
pub fn accepted<T>(answer: Result<T, Error>) -> Outcome {
    match answer {
        Err(Error::RequestError(error)) if error.is_decode() => Ok(()),
        Err(error) => Err(error.into()),
        Ok(_) => Ok(()),
    }
}

/// Asks again until something is there: the worker does it after the write.
pub async fn until<F, R>(look: F) -> Outcome
where
    F: Fn() -> R,
    R: Future<Output = Result<bool, Error>>,
{
    while !look().await? {
        sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

pub fn has(statuses: &[Status], id: &str) -> bool {
    statuses.iter().any(|status| status.id == id)
}

pub fn server() -> String {
    env::var("BASE_URL").expect("BASE_URL is not set")
}

pub fn client(token: Option<String>) -> Result<Client, Error> {
    megalodon::generator(SNS::Mastodon, server(), token, None)
}

/// Signs up with an application of its own. megalodon has no call for the application's own token.
pub async fn person(number: u32) -> Result<Client, Box<dyn AnyError + Send + Sync>> {
    let guest = client(None)?;
    let scopes = ["read", "write", "follow", "push"]
        .map(String::from)
        .to_vec();
    let options = AppInputOptions {
        scopes: Some(scopes.clone()),
        ..Default::default()
    };
    let app = guest.register_app("megalodon-rs".into(), &options).await?;
    let asked = serde_json::json!({
        "grant_type": "client_credentials", "client_id": app.client_id,
        "client_secret": app.client_secret, "redirect_uri": OUT_OF_BAND, "scope": scopes.join(" "),
    });
    let request = reqwest::Client::new()
        .post(format!("{}/oauth/token", server()))
        .json(&asked);
    let answer: serde_json::Value = request.send().await?.json().await?;
    let token = answer["access_token"]
        .as_str()
        .ok_or("the application has no token")?;
    let millis = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let name = format!("rs{millis}{number}");
    let email = format!("{name}@example.org");
    let signed_up = client(Some(token.into()))?
        .register_account(
            name,
            email,
            PASSWORD.into(),
            "true".into(),
            "en".into(),
            None,
        )
        .await?;
    Ok(client(Some(signed_up.json.access_token))?)
}
