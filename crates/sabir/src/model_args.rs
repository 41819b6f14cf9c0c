//! Where the state is and which model answers: what every command says that asks one.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use sabir_engine::{ProviderSettings, WireApi};
use sabir_host::Providers;

use crate::home::HomeArgs;

#[derive(Debug, Clone, Args)]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    pub(crate) home: HomeArgs,
    /// The model, as its provider names it
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// A provider of the configuration file
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// The address of a model server, up to /v1; its key is taken from SABIR_API_KEY
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Which API the model server speaks
    #[arg(long, value_enum, value_name = "API")]
    pub(crate) wire: Option<Wire>,
    /// The configuration file [default: sabir.toml in the home]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Wire {
    Responses,
    Chat,
}

impl ModelArgs {
    /// The providers of the configuration file.
    pub(crate) fn providers(&self) -> anyhow::Result<Providers> {
        Ok(Providers::load(&self.config_file()?)?)
    }

    /// What was said here about the provider.
    pub(crate) fn settings(&self) -> ProviderSettings {
        ProviderSettings {
            name: self.provider.clone(),
            base_url: self.base_url.clone(),
            wire_api: self.wire.map(|wire| match wire {
                Wire::Responses => WireApi::Responses,
                Wire::Chat => WireApi::Chat,
            }),
            ..ProviderSettings::default()
        }
    }

    /// Whether the command line says where a model is.
    pub(crate) fn is_said(&self) -> bool {
        self.model.is_some() || self.provider.is_some() || self.base_url.is_some()
    }

    /// Whether it was said where a model is; a provider may also stand in the configuration file.
    pub(crate) fn names_a_model(&self) -> anyhow::Result<bool> {
        // A file is for much else besides.
        Ok(self.is_said() || self.providers()?.names().next().is_some())
    }

    pub(crate) fn config_file(&self) -> anyhow::Result<PathBuf> {
        match &self.config {
            // The one in the home need not be there; one that is named must be.
            Some(config) => match config.try_exists() {
                Ok(true) => Ok(config.clone()),
                Ok(false) => bail!("{}: there is no such configuration file", config.display()),
                Err(error) => {
                    Err(error).with_context(|| format!("{}: cannot be read", config.display()))
                }
            },
            None => Ok(self.home.resolve()?.join("sabir.toml")),
        }
    }
}
