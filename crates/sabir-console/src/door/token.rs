//! The token of a home: a file that only its owner can read, made once. Whoever can read it may do in
//! the console what its owner may.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use subtle::ConstantTimeEq as _;

use super::{Digest, hex};

/// What lets a person in. It is compared in constant time and not shown by accident.
#[derive(Clone)]
pub struct ConsoleToken(String);

/// Why there is no token.
#[derive(Debug)]
pub struct TokenError {
    path: PathBuf,
    why: String,
}

impl ConsoleToken {
    /// The token of a home, which is there; the first call makes it. When several come first at once,
    /// all get the same one.
    ///
    /// # Errors
    ///
    /// When others than its owner can use the file, when it holds no token, and when the disk does
    /// not let us.
    pub fn of_home(home: &Path) -> Result<Self, TokenError> {
        let path = home.join(FILE);
        let wrong = |why: String| TokenError { path: path.clone(), why };
        if let Err(error) = path.symlink_metadata() {
            match error.kind() {
                io::ErrorKind::NotFound => make(home, &path).map_err(|it| wrong(it.to_string()))?,
                _ => return Err(wrong(error.to_string())),
            }
        }
        let text = sabir_host::read_private(&path, MOST_BYTES).map_err(wrong)?;
        let text = text.trim();
        if text.len() < LEAST || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong(format!(
                "it has to hold at least {LEAST} visible ASCII characters without spaces; delete it to get a new one"
            )));
        }
        Ok(Self(text.to_owned()))
    }

    /// The address that signs in whoever opens it. The token is behind the `#`: browsers send that to
    /// nobody.
    pub fn link(&self, base: &str) -> String {
        format!("{}/#token={}", base.trim_end_matches('/'), self.0)
    }

    /// Hashes are compared, so that not even the length shows in the time that it takes.
    pub(super) fn admits(&self, given: &str) -> bool {
        let (given, own) = (Digest::of(given), Digest::of(&self.0));
        bool::from(given.0.ct_eq(&own.0))
    }
}

/// Writes a new token where none is. Who came first wins.
fn make(home: &Path, path: &Path) -> io::Result<()> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    // For its owner alone from the first moment.
    let mut draft = tempfile::Builder::new().prefix(".console.token").tempfile_in(home)?;
    draft.write_all(format!("{}\n", hex(&bytes)).as_bytes())?;
    draft.as_file().sync_all()?;
    match draft.persist_noclobber(path) {
        Ok(_) => std::fs::File::open(home)?.sync_all(),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error.error),
    }
}

impl fmt::Debug for ConsoleToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConsoleToken(hidden)")
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for TokenError {}

/// In the home.
const FILE: &str = "console.token";
const MOST_BYTES: u64 = 4096;
/// Nobody guesses so many.
const LEAST: usize = 16;

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// CO-1: made once, for its owner alone, and never shown.
    #[test]
    fn a_home_has_one_token_that_only_its_owner_reads() {
        let home = tempfile::tempdir().unwrap();
        let token = ConsoleToken::of_home(home.path()).unwrap();
        let path = home.path().join(FILE);
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        assert_eq!(token.0.len(), 64);
        assert_eq!(ConsoleToken::of_home(home.path()).unwrap().0, token.0);
        assert!(token.admits(&token.0) && !token.admits(&token.0[1..]) && !token.admits(""));
        assert!(!format!("{token:?}").contains(&token.0));
        let link = token.link("http://127.0.0.1:7420/");
        assert_eq!(link, format!("http://127.0.0.1:7420/#token={}", token.0));
        let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().collect();
        assert_eq!(left.len(), 1);
    }

    /// CO-1: a file that others may use, or that holds no token, lets nobody in.
    #[test]
    fn a_file_that_is_no_secret_is_refused() {
        let home = tempfile::tempdir().unwrap();
        ConsoleToken::of_home(home.path()).unwrap();
        let path = home.path().join(FILE);
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let error = ConsoleToken::of_home(home.path()).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        for text in ["", "short", "sixteen letters and more"] {
            std::fs::write(&path, text).unwrap();
            let error = ConsoleToken::of_home(home.path()).unwrap_err().to_string();
            assert!(error.contains("delete it"), "{error}");
        }
    }

    /// CO-1: when several start at once, all have the same token.
    #[test]
    fn all_who_come_first_get_the_same_one() {
        let home = tempfile::tempdir().unwrap();
        let tokens: Vec<String> = std::thread::scope(|scope| {
            let ask = || ConsoleToken::of_home(home.path()).unwrap().0;
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(tokens.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
