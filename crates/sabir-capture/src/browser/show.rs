//! A document of our own, shown to the person in a tab. No page of the web is involved.

use serde_json::json;

use super::error::{ToolCode, ToolError};
use super::{Browser, describe};

impl Browser {
    /// Shows safe HTML in a new tab, where no script runs and nothing is loaded.
    pub async fn show(&mut self, title: &str, safe_html: &str) -> Result<(), ToolError> {
        let tab = self.new_tab().await?;
        let session = Some(tab.session.as_str());
        let failed = |reason: String| ToolError::new(ToolCode::OpenTabFailed, reason);
        let frames = self.call(session, "Page.getFrameTree", json!({})).await;
        let frames = frames.map_err(|error| failed(describe(&error)))?;
        let frame = frames["frameTree"]["frame"]["id"].clone();
        let page = json!({ "frameId": frame, "html": page(title, safe_html) });
        let set = self.call(session, "Page.setDocumentContent", page).await;
        set.map_err(|error| failed(describe(&error)))?;
        // No script runs in it: whoever leaves it has clicked.
        self.tabs.let_go(&tab.id);
        self.activate(&tab.id).await
    }
}

fn page(title: &str, safe_html: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html><html><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>{title}</title><style>{STYLE}</style></head><body>{safe_html}</body></html>"
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const STYLE: &str = "body{font:17px/1.6 Georgia,serif;max-width:42rem;margin:3rem auto;\
    padding:0 1rem;color:#1d1d1f}h1,h2,h3{font-family:system-ui,sans-serif;line-height:1.25}\
    table{border-collapse:collapse}th,td{border:1px solid #ccc;padding:.3rem .6rem;\
    text-align:left}pre{background:#f5f5f7;padding:1rem;overflow:auto}\
    blockquote{border-left:3px solid #ccc;margin-left:0;padding-left:1rem;color:#555}";
