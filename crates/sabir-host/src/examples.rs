//! Pages that come with the program, so that there is something to ask about before anything is
//! fetched. They are put into the home as files and captured like any others.

use std::io;
use std::path::{Path, PathBuf};

use sabir_store::library::Collection;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::clock::now_ms;
use crate::desk::{CaptureNews, CaptureOptions, Desk, DeskError, Input};

/// The files of `examples/pages`, by name.
pub const EXAMPLE_PAGES: [(&str, &str); 4] = [
    ("tides.html", include_str!("../../../examples/pages/tides.html")),
    ("locks.html", include_str!("../../../examples/pages/locks.html")),
    ("lights.html", include_str!("../../../examples/pages/lights.html")),
    ("pilots.html", include_str!("../../../examples/pages/pilots.html")),
];

/// What the collection of them is called.
pub const EXAMPLE_COLLECTION: &str = "Harbour";

/// Something to ask it.
pub const EXAMPLE_QUESTION: &str = "How long is it from one high water to the next?";

impl Desk {
    /// Makes the collection of the example pages, or completes the one that is there. Nothing is
    /// fetched from elsewhere.
    pub async fn make_example(&self, stop: &CancellationToken) -> Result<Collection, DeskError> {
        let library = self.library().clone();
        let made = tokio::task::spawn_blocking(move || {
            let inputs = write_pages(library.home()).map_err(|error| {
                DeskError::refused(format!("the pages cannot be written: {error}"))
            })?;
            let collection = library.find_or_create_collection(EXAMPLE_COLLECTION, now_ms())?;
            Ok::<_, DeskError>((inputs, collection))
        });
        let made = made.await.map_err(|error| DeskError::refused(error.to_string()))?;
        let (inputs, collection) = made?;
        let (send, mut told) = mpsc::channel(16);
        let capturing = async move {
            let options = CaptureOptions::default();
            self.capture(&collection.id, &inputs, options, &send, stop).await.map(|_| collection)
        };
        let listening = async {
            let mut fault = None;
            while let Some(said) = told.recv().await {
                if let CaptureNews::Failed { address, fault: why, again_at_ms: None, .. } = said {
                    fault = Some(format!("{address}: {}", why.text));
                }
            }
            fault
        };
        let (collection, fault) = tokio::join!(capturing, listening);
        match fault {
            Some(why) => Err(DeskError::refused(why)),
            None => collection,
        }
    }
}

/// Pages that somebody changed are as they were again.
fn write_pages(home: &Path) -> io::Result<Vec<Input>> {
    let folder: PathBuf = std::path::absolute(home)?.join("examples");
    std::fs::create_dir_all(&folder)?;
    let mut inputs = Vec::new();
    for (name, text) in EXAMPLE_PAGES {
        let path = folder.join(name);
        if std::fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
            std::fs::write(&path, text)?;
        }
        inputs.push(Input::File(path));
    }
    Ok(inputs)
}
