//! Nobody said which model: those that are served on this machine are offered.

use std::fmt::Write as _;
use std::io::{BufRead as _, IsTerminal as _};

use anyhow::{Context as _, bail};
use sabir_host::{LocalServer, detect_local, probe_local};
use sabir_policy::as_typed;

use super::Screen;
use crate::agent_args::runtime;
use crate::model_args::{ModelArgs, Wire};

/// Ports to ask instead of the usual ones.
const PORTS: &str = "SABIR_LOCAL_PORTS";

/// More than this is not a choice but a catalogue.
const MOST_OFFERED: usize = 20;

struct Offer {
    server: String,
    base_url: String,
    model: String,
}

/// Completes the arguments with a model that a person chose, or says what could be written.
pub(super) fn choose(model: &mut ModelArgs, may_ask: bool) -> anyhow::Result<()> {
    let found = runtime()?.block_on(find_local())?;
    let offers: Vec<Offer> = found.into_iter().flat_map(offers).take(MOST_OFFERED).collect();
    if offers.is_empty() {
        bail!(
            "no model is named, and no model server was found on this machine\n\
             help: say where one is: sabir run --model NAME --base-url URL \"TASK\" (its key is \
             taken from SABIR_API_KEY), or write it once into sabir.toml"
        );
    }
    let is_attended = may_ask && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if !is_attended {
        bail!("no model is named; found on this machine:{}", command_lines(&offers));
    }
    let offer = ask(&offers)?;
    model.model = Some(offer.model.clone());
    model.base_url = Some(offer.base_url.clone());
    model.wire = Some(Wire::Chat);
    Ok(())
}

/// Servers of models on this machine.
pub(crate) async fn find_local() -> anyhow::Result<Vec<LocalServer>> {
    let Ok(said) = std::env::var(PORTS) else { return Ok(detect_local().await) };
    let words = said.split(',').map(str::trim).filter(|it| !it.is_empty());
    let ports: Result<Vec<u16>, _> = words.map(str::parse).collect();
    let ports = ports.with_context(|| format!("{PORTS} is not a list of ports: {said:?}"))?;
    let ports: Vec<(u16, &str)> = ports.into_iter().map(|port| (port, "a local server")).collect();
    Ok(probe_local(&ports).await)
}

fn offers(server: LocalServer) -> impl Iterator<Item = Offer> {
    let LocalServer { name, base_url, models } = server;
    models.into_iter().map(move |model| Offer {
        server: name.clone(),
        base_url: base_url.clone(),
        model,
    })
}

/// Ready to be typed.
fn command_lines(offers: &[Offer]) -> String {
    let mut text = String::new();
    for Offer { base_url, model, .. } in offers {
        let words = ["--model", model, "--base-url", base_url, "--wire", "chat"];
        let _ = write!(text, "\n  sabir run {} \"TASK\"", as_typed(&words.map(str::to_owned)));
    }
    text
}

fn ask(offers: &[Offer]) -> anyhow::Result<&Offer> {
    let mut text = "No model is named. Found on this machine:\n".to_owned();
    for (number, Offer { server, base_url, model }) in (1..).zip(offers) {
        let _ = writeln!(text, "  {number:2}  {model}  ({server}, {base_url})");
    }
    Screen::prompt(&text);
    loop {
        Screen::prompt("Which one? [1] ");
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line)? == 0 {
            bail!("no model was chosen");
        }
        let number = match line.trim() {
            "" => Some(1),
            text => text.parse::<usize>().ok(),
        };
        let chosen = number.and_then(|number| offers.get(number.checked_sub(1)?));
        if let Some(offer) = chosen {
            return Ok(offer);
        }
    }
}
