//! Which model a session would have, before there is one.

use sabir_engine::ConfigureSession;

use super::Engine;
use super::configure::NO_MODEL;

impl Engine {
    /// The model of a session that begins like this, or why it would have none. Nobody is asked: a
    /// server that is named may still be away.
    pub fn model_for(&self, wanted: &ConfigureSession) -> Result<String, String> {
        let defaults = &self.shared.defaults;
        let provider = wanted.provider.clone().unwrap_or_default();
        let environment = |name: &str| crate::secrets::var(name)?.into_string().ok();
        let resolved =
            self.shared.providers.resolve(&[&defaults.provider, &provider], &environment);
        let resolved = resolved.map_err(|error| error.to_string())?;
        let named = wanted.model.clone().or_else(|| defaults.model.clone()).or(resolved.model);
        named.filter(|model| !model.trim().is_empty()).ok_or_else(|| NO_MODEL.to_owned())
    }
}
