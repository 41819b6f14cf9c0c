//! What the kernel says of this process, and which program it is.

#![expect(clippy::disallowed_methods, reason = "the kernel tells it in files")]

use crate::metrics::Text;

pub(crate) fn write(text: &mut Text) {
    let help = "Which program this is.";
    text.metric("sabir_build_info", "gauge", help);
    text.sample("sabir_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    if let Some(bytes) = resident_bytes() {
        let help = "Memory of the process that is in use.";
        text.single("process_resident_memory_bytes", "gauge", help, bytes as f64);
    }
    if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
        // One of them is the folder itself.
        let count = open.count().saturating_sub(1);
        text.single("process_open_fds", "gauge", "Files and sockets that are open.", count as f64);
    }
}

fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_how_much_is_used() {
        let mut text = Text::default();
        write(&mut text);
        let text = text.into_string();
        for name in ["process_resident_memory_bytes ", "process_open_fds ", "sabir_build_info{"] {
            assert!(text.lines().any(|line| line.starts_with(name)), "{name} {text}");
        }
    }
}
