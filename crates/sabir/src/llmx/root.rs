//! The folder that the paths of a document may not leave: which of them a link leads out.
//!
//! It asks the file system what is a link, and nothing else. Where links may lead is decided in
//! `sabir-llmx`.

use std::path::Path;

use anyhow::Context;
use sabir_base::Diagnostic;
use sabir_host::LinksOnDisk;
use sabir_llmx::{PathRef, Tree};

use crate::notation::Checked;

/// An existing folder.
#[derive(Debug)]
pub(crate) struct Root {
    /// Absolute and without links.
    path: String,
}

/// More refusals than this in one text help nobody.
const MOST_REFUSED: usize = 1_000;

impl Root {
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn open(folder: &Path) -> anyhow::Result<Self> {
        let unusable = || format!("{}: cannot be the root", folder.display());
        let path = folder.canonicalize().with_context(unusable)?;
        anyhow::ensure!(path.is_dir(), "{}: is not a folder", folder.display());
        let path = path.to_str().filter(|path| path.starts_with('/'));
        let path = path.with_context(|| format!("{}: has no path in UTF-8", folder.display()))?;
        Ok(Self { path: path.to_owned() })
    }

    /// What `check` finds, and every path that a link leads out.
    pub(crate) fn check(&self, text: &str) -> Checked {
        let mut parsed = sabir_llmx::check(text);
        let refused = self.refuse(&parsed.tree);
        parsed.diagnostics.extend(refused);
        parsed.diagnostics.sort_by_key(|found| found.span.start);
        parsed.into()
    }

    /// Refuses the paths of a document that a link leads out. What is wrong with a path by its text
    /// alone is the validator's to say.
    ///
    /// What is true now may not be true when the file is opened: this is for reports, and whoever
    /// opens files has to open them beneath the root.
    fn refuse(&self, tree: &Tree<'_>) -> Vec<Diagnostic> {
        let refused = sabir_llmx::paths(tree).filter_map(|place| {
            if sabir_llmx::escape(&place.text).is_some() {
                return None;
            }
            let path = PathRef::parse(&place.text).ok()?;
            let error = sabir_llmx::resolve(&path, &self.path, &LinksOnDisk).err()?;
            Some(place.refuse(&error))
        });
        refused.take(MOST_REFUSED).collect()
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    use super::*;

    /// The reasons why paths of a message are refused under a root with these links.
    fn refused(links: &[(&str, &str)], path: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("root");
        fs::create_dir_all(root.join("sub/deep")).unwrap();
        fs::create_dir_all(dir.path().join("outside")).unwrap();
        fs::write(root.join("file"), "").unwrap();
        for (link, target) in links {
            let target = target.replace("ROOT", root.to_str().unwrap());
            symlink(target, root.join(link)).unwrap();
        }
        check(path, &root)
    }

    fn check(path: &str, root: &Path) -> Vec<String> {
        let text = format!(
            "HEADER:{{f:a,t:b,s:1}}\nCTX:{{p:x,f:[\"{path}\"]}}\nACT:{{op:read,tgt:\"p:{path}\"}}\n\
             END:{{n:\"x\",del:[\"{path}\"]}}\nACT:{{op:shell,tgt:\"{path}\"}}\n"
        );
        let parsed = sabir_llmx::parse(&text);
        assert!(!parsed.has_errors());
        let found = Root::open(root).unwrap().refuse(&parsed.tree);
        assert!(found.iter().all(Diagnostic::is_error));
        found.into_iter().map(|it| it.message).collect()
    }

    fn leads_out(links: &[(&str, &str)], path: &str) {
        let found = refused(links, path);
        assert_eq!(found.len(), 3, "{path}");
        assert!(found.iter().all(|it| it.contains("leads out")), "{found:?}");
    }

    fn stays(links: &[(&str, &str)], path: &str) {
        assert_eq!(refused(links, path), [""; 0], "{path}");
    }

    /// LX-P19.
    #[test]
    fn links_that_lead_out_are_refused() {
        leads_out(&[("etc", "/etc")], "etc");
        leads_out(&[("etc", "/etc")], "etc/passwd");
        leads_out(&[("up", "..")], "up");
        leads_out(&[("up", "..")], "up/root/file");
        leads_out(&[("sub/up", "../..")], "sub/up/outside");
        leads_out(&[("sub/middle", "../../outside")], "sub/middle/deep/x.txt");
        leads_out(&[("a", "b"), ("b", "sub/c"), ("sub/c", "/etc")], "a/passwd");
        leads_out(&[("gone", "/no/such/place")], "gone");
        leads_out(&[("gone", "../no-such-place")], "gone/x");
        leads_out(&[("beside", "ROOT-other")], "beside");
    }

    /// LX-P18.
    #[test]
    fn links_that_stay_inside_are_fine() {
        stays(&[], "file");
        stays(&[], "no/such/file");
        stays(&[], "file/below");
        stays(&[("in", "sub/deep")], "in/x");
        stays(&[("sub/back", "../file")], "sub/back");
        stays(&[("abs", "ROOT/sub")], "abs/deep");
        stays(&[("abs", "ROOT")], "abs/file");
        stays(&[("gone", "sub/no-such-file")], "gone");
        stays(&[("a", "b"), ("b", "sub")], "a/deep/../x");
    }

    /// LX-P21.
    #[test]
    fn links_without_end_are_refused() {
        for (links, path) in [
            (&[("self", "self")][..], "self"),
            (&[("a", "b"), ("b", "a")], "a/x"),
            (&[("again", "sub/../again/x")], "again"),
        ] {
            let found = refused(links, path);
            assert_eq!(found.len(), 3);
            assert!(found[0].contains("lead nowhere"), "{found:?}");
        }
    }

    /// LX-P20: the parent of a linked folder is the parent of where it leads.
    #[test]
    fn parents_are_those_of_the_target() {
        let found = refused(&[("here", ".")], "here/../x");
        assert!(found[0].contains("climbs above the root"), "{found:?}");
        stays(&[("in", "sub/deep")], "in/../deep");
    }

    /// LX-P23.
    #[test]
    fn what_cannot_be_told_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        symlink(OsStr::from_bytes(b"\xff"), dir.path().join("odd")).unwrap();
        assert!(check("odd", dir.path())[0].contains("cannot be told"));
        let long = "a".repeat(300);
        assert!(check(&long, dir.path())[0].contains("cannot be told"));
    }

    #[test]
    fn the_root_may_itself_be_reached_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("real")).unwrap();
        let alias = dir.path().join("alias");
        symlink("real", &alias).unwrap();
        symlink(alias.join("x"), dir.path().join("real/a")).unwrap();
        assert_eq!(check("a", &alias), [""; 0]);
        assert!(Root::open(&alias.join("none")).is_err());
    }
}
