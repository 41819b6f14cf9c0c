//! Who else may use a file, by its mode and by its access list. It knows nothing of what is in it.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::fgetxattr;
use rustix::io::Errno;

/// Whether anybody but the user, and root, who may use everything, may use an open file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Access {
    OursAlone,
    /// Who owns it could change what others may.
    AnothersFile,
    /// By its mode, or by an access list on top of it.
    OpenToOthers,
}

pub(super) fn access(file: &File, facts: &Metadata) -> Access {
    let us = rustix::process::geteuid().as_raw();
    // Service managers hand files over that are root's own, and that a list opens to us alone.
    if facts.uid() != us && facts.uid() != ROOT {
        return Access::AnothersFile;
    }
    let mut list = [0; LONGEST_LIST];
    let is_open = match fgetxattr(file, ACCESS_LIST, &mut list) {
        Ok(length) => is_open_to_others(&list[..length], us),
        // There is none, or none can be: then the mode says everything.
        Err(Errno::NODATA | Errno::NOTSUP) => facts.mode() & 0o077 != 0,
        Err(_) => true,
    };
    // Nobody keeps a secret in a program.
    if is_open || facts.mode() & 0o100 != 0 {
        return Access::OpenToOthers;
    }
    Access::OursAlone
}

/// Reads a list as Linux stores it: a version, and for each entry a tag, what is permitted and to whom.
/// With a list, the mode of the group is only the most that the list may permit. What cannot be read is
/// open to everybody.
fn is_open_to_others(list: &[u8], us: u32) -> bool {
    let Some((version, entries)) = list.split_first_chunk() else { return true };
    let (entries, rest) = entries.as_chunks::<ENTRY_BYTES>();
    if u32::from_le_bytes(*version) != VERSION || !rest.is_empty() {
        return true;
    }
    entries.iter().any(|&[t0, t1, p0, p1, i0, i1, i2, i3]| {
        let is_permitted = u16::from_le_bytes([p0, p1]) != 0;
        let whose = u32::from_le_bytes([i0, i1, i2, i3]);
        match u16::from_le_bytes([t0, t1]) {
            OWNER | MASK => false,
            USER => is_permitted && whose != us && whose != ROOT,
            _ => is_permitted,
        }
    })
}

const ROOT: u32 = 0;
const ACCESS_LIST: &str = "system.posix_acl_access";
/// More than a hundred entries: whoever needs them does not keep a secret.
const LONGEST_LIST: usize = 1024;
const ENTRY_BYTES: usize = 8;
const VERSION: u32 = 2;
const OWNER: u16 = 0x01;
const USER: u16 = 0x02;
const MASK: u16 = 0x10;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rustix::fs::{XattrFlags, fsetxattr};

    use super::*;

    const GROUP: u16 = 0x04;
    const NAMED_GROUP: u16 = 0x08;
    const OTHERS: u16 = 0x20;
    const US: u32 = 1234;
    const NOBODY: u32 = u32::MAX;

    fn list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
        let mut bytes = VERSION.to_le_bytes().to_vec();
        for (tag, permitted, whose) in entries {
            bytes.extend(tag.to_le_bytes());
            bytes.extend(permitted.to_le_bytes());
            bytes.extend(whose.to_le_bytes());
        }
        bytes
    }

    /// As a service manager writes it, and one entry more or less.
    fn handed_over(to: u32, also: Option<(u16, u16, u32)>) -> Vec<u8> {
        let mut entries = vec![(OWNER, 4, NOBODY), (USER, 4, to), (GROUP, 0, NOBODY)];
        entries.extend(also);
        entries.extend([(MASK, 4, NOBODY), (OTHERS, 0, NOBODY)]);
        list(&entries)
    }

    #[test]
    fn a_list_that_names_nobody_else_opens_to_nobody_else() {
        assert!(!is_open_to_others(&handed_over(US, None), US));
        assert!(!is_open_to_others(&handed_over(US, Some((USER, 4, ROOT))), US));
        assert!(!is_open_to_others(&handed_over(US, Some((USER, 0, 77))), US));
        assert!(is_open_to_others(&handed_over(77, None), US));
        assert!(is_open_to_others(&handed_over(US, Some((NAMED_GROUP, 4, 5))), US));
        assert!(is_open_to_others(&list(&[(OWNER, 4, NOBODY), (GROUP, 4, NOBODY)]), US));
        assert!(is_open_to_others(&list(&[(OWNER, 4, NOBODY), (OTHERS, 4, NOBODY)]), US));
    }

    #[test]
    fn a_list_that_cannot_be_read_is_open_to_everybody() {
        let whole = handed_over(US, None);
        for length in (0..whole.len()).filter(|length| length % ENTRY_BYTES != 4) {
            assert!(is_open_to_others(&whole[..length], US), "{length}");
        }
        let mut other_version = whole;
        other_version[0] = 3;
        assert!(is_open_to_others(&other_version, US));
        assert!(is_open_to_others(&list(&[(0x40, 4, US)]), US));
    }

    /// QP-T10
    #[test]
    fn a_file_that_is_handed_over_is_ours_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, "word").unwrap();
        let file = File::open(&path).unwrap();
        let look = || access(&file, &file.metadata().unwrap());
        let set_mode = |mode| std::fs::set_permissions(&path, PermissionsExt::from_mode(mode));
        set_mode(0o400).unwrap();
        assert_eq!(look(), Access::OursAlone);
        set_mode(0o440).unwrap();
        assert_eq!(look(), Access::OpenToOthers);
        set_mode(0o700).unwrap();
        assert_eq!(look(), Access::OpenToOthers);
        set_mode(0o400).unwrap();
        let us = rustix::process::geteuid().as_raw();
        let set = |list: &[u8]| fsetxattr(&file, ACCESS_LIST, list, XattrFlags::empty());
        if set(&handed_over(us, None)) == Err(Errno::NOTSUP) {
            return;
        }
        // The mode looks as if the group could read it.
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o440);
        assert_eq!(look(), Access::OursAlone);
        set(&handed_over(us.wrapping_add(1), None)).unwrap();
        assert_eq!(look(), Access::OpenToOthers);
    }
}
