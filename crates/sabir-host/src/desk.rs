//! The desk: sources in, cited answers out. It fetches pages into collections, asks a model about
//! them, holds each citation against what was captured, carries out what the gate allows of what the
//! model proposes, and keeps a record of it all.
//!
//! Nothing that a model says happens by itself: see `gate`.

mod answer;
mod artifact;
mod cited;
mod collect;
mod context;
mod data;
mod difference;
mod effort;
mod error;
mod gate;
mod input;
mod model;
mod moment;
mod order;
mod reach;
mod tools;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sabir_capture::{Guard, HostPort, ReadOptions};
use sabir_engine::Usage;
use sabir_llmcp::Tool;
use sabir_policy::{PolicyDoc, tool_names};
use sabir_store::library::{Library, LibraryError};
use tokio::sync::{Mutex, watch};

pub use answer::{Answered, Ask, ToolSet};
pub use artifact::{Made, ShareFormat, Shared, transform_kinds, write_new};
pub use cited::Cited;
pub use collect::{CaptureNews, CaptureOptions, CaptureReport, Kept, Note};
pub use data::{check_data, check_schema};
pub use difference::{Change, count_changes, show_changes};
pub use error::DeskError;
pub use gate::{CallReport, Petition};
pub use input::{Input, InputError, InputReader, PDF_ARGUMENT, Reading};
pub use model::{DeskModel, USUAL_BUDGET};
pub use moment::written;
pub use order::check_input;
pub(crate) use reach::search_host;

use crate::egress::{CallBounds, Held, LedOn, guard_under};
use crate::mcp::McpConfig;
use gate::Passed;
use tools::BrowserSlot;

/// What a desk works with.
#[derive(Debug)]
pub struct DeskSetup {
    pub home: PathBuf,
    /// Addresses that are reached although they are not public.
    pub allow_egress: Vec<HostPort>,
    /// This program, which reads PDF files in a process of its own.
    pub program: PathBuf,
    pub model: DeskModel,
    pub policy: PolicyDoc,
    pub integrations: Option<Integrations>,
    /// Whether a browser is shown to the person.
    pub visible_browser: bool,
}

/// Programs that the user has connected, and what supervises them.
#[derive(Debug, Clone)]
pub struct Integrations {
    pub config: McpConfig,
    pub helper: PathBuf,
}

/// Cheap to clone; clones share everything.
#[derive(Debug, Clone)]
pub struct Desk(Arc<Opened>, Arc<InputReader>, Option<Arc<CallBounds>>, Option<Meter>);

/// What models were given and gave, in tokens, as far as they said so.
pub(crate) type Meter = Arc<watch::Sender<Option<u64>>>;

#[derive(Debug)]
struct Opened {
    library: Library,
    /// Of the browser.
    guard: Guard,
    allow_egress: Vec<HostPort>,
    model: DeskModel,
    policy: PolicyDoc,
    integrations: Option<Integrations>,
    browser: Mutex<BrowserSlot>,
    held: Held,
}

impl Desk {
    pub fn open(setup: DeskSetup) -> Result<Self, DeskError> {
        let library = open_library(&setup.home)?;
        let allow = setup.allow_egress;
        // One browser serves all of its tools, and a page does not know which led to it.
        let of_browser: Vec<&str> = tool_names().filter(|name| is_of_browser(name)).collect();
        let guard = guard_under(&setup.policy, allow.clone(), &of_browser);
        let reader =
            InputReader::new(guard_under(&setup.policy, allow.clone(), &[]), setup.program);
        let opened = Opened {
            library,
            guard,
            allow_egress: allow,
            model: setup.model,
            policy: setup.policy,
            integrations: setup.integrations,
            browser: Mutex::new(BrowserSlot::new(setup.visible_browser)),
            held: Held::default(),
        };
        Ok(Self(Arc::new(opened), Arc::new(reader), None, None))
    }

    /// The same desk, which says after each call of a model how much was used.
    pub(crate) fn metered(&self, meter: Meter) -> Self {
        Self(Arc::clone(&self.0), Arc::clone(&self.1), self.2.clone(), Some(meter))
    }

    fn note_usage(&self, usage: Option<Usage>) {
        let (Some(meter), Some(usage)) = (&self.3, usage) else { return };
        meter.send_modify(|total| {
            let used = usage.input.saturating_add(usage.output);
            *total = Some(total.unwrap_or(0).saturating_add(used));
        });
    }

    /// The same desk for one call of a model: what it fetches and the pages that it opens are held to
    /// what the policy file says of this tool, also where they are led on from.
    fn held_to(&self, tool: &Tool, passed: &Passed) -> Self {
        let (policy, tool) = (&self.0.policy, tool.name().as_str());
        let guard = guard_under(policy, self.0.allow_egress.clone(), &[tool]);
        let led_on = || LedOn { policy: policy.clone(), tool };
        let bounds = CallBounds {
            led_on: led_on(),
            hosts: passed.hosts.clone(),
            row: passed.row.clone(),
            held: self.0.held.clone(),
        };
        let reader = self.1.held_to(guard, Arc::new(led_on()));
        Self(Arc::clone(&self.0), Arc::new(reader), Some(Arc::new(bounds)), self.3.clone())
    }

    /// Who answers, as people call it.
    pub fn model_name(&self) -> &str {
        self.0.model.name()
    }

    /// The same desk for pages that a program of somebody else asks for: they are held to what the
    /// policy file says of captures, also where they are led on from.
    #[must_use]
    pub fn for_visitors(&self) -> Self {
        let (policy, tool) = (&self.0.policy, CAPTURE);
        let guard = guard_under(policy, self.0.allow_egress.clone(), &[tool]);
        let reader = self.1.held_to(guard, Arc::new(LedOn { policy: policy.clone(), tool }));
        Self(Arc::clone(&self.0), Arc::new(reader), self.2.clone(), self.3.clone())
    }

    /// Reads a page and stores nothing.
    pub async fn read(&self, input: &Input, options: &ReadOptions) -> Result<Reading, DeskError> {
        Ok(self.reader().read(input, options).await?)
    }

    /// What is collected. Its calls block for a moment.
    pub fn library(&self) -> &Library {
        &self.0.library
    }

    fn allow_egress(&self) -> &[HostPort] {
        &self.0.allow_egress
    }

    fn reader(&self) -> &InputReader {
        &self.1
    }

    /// A call of the library, where it blocks nobody.
    async fn with_library<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Library) -> Result<T, LibraryError> + Send + 'static,
    ) -> Result<T, DeskError> {
        let library = self.0.library.clone();
        match tokio::task::spawn_blocking(move || work(&library)).await {
            Ok(done) => Ok(done?),
            Err(error) => Err(DeskError::refused(error.to_string())),
        }
    }
}

/// The tool that puts a page into a collection.
pub(crate) const CAPTURE: &str = "source.capture";

/// Whether a tool is carried out in the browser.
fn is_of_browser(name: &str) -> bool {
    name.starts_with("browser.") || name == "search"
}

/// Opens the library of a home, and makes it when it is missing; ids come from the system's random
/// numbers.
pub fn open_library(home: &Path) -> Result<Library, DeskError> {
    // Once before anything depends on it.
    moment::random::<10>()?;
    Ok(Library::open(home, draw)?)
}

/// Opens the library of a home to look at it, also where nothing can be written.
pub fn open_library_to_read(home: &Path) -> Result<Library, DeskError> {
    match open_library(home) {
        Err(DeskError::Library(
            error @ (LibraryError::ReadOnly { .. } | LibraryError::Io { .. }),
        )) => Library::open_to_read(home).map_err(|_| error.into()),
        opened => opened,
    }
}

/// Opens the library of a home if there is one.
pub fn open_existing_library(home: &Path) -> Result<Option<Library>, DeskError> {
    moment::random::<10>()?;
    Ok(Library::open_existing(home, draw)?)
}

fn draw() -> [u8; 10] {
    let mut bytes = [0; 10];
    // It worked a moment ago. Without random numbers ids would collide, and colliding ids are
    // refused by the library.
    let _ = getrandom::fill(&mut bytes);
    bytes
}
