//! The system calls that a confined command cannot make, whatever its name spaces allow.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Cmp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

use super::Network;

/// Applies to the calling thread and to everything that it starts from now on.
pub(super) fn apply(network: Network) -> Result<(), seccompiler::Error> {
    for program in programs(network)? {
        seccompiler::apply_filter(&program)?;
    }
    Ok(())
}

fn programs(network: Network) -> Result<Vec<BpfProgram>, seccompiler::Error> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter = |rules, errno: i32| -> Result<BpfProgram, seccompiler::Error> {
        let action = SeccompAction::Errno(errno.unsigned_abs());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?;
        Ok(filter.try_into()?)
    };
    // The flags of `clone3` stand behind a pointer, where no filter can look. A C library that
    // hears "no such call" takes `clone`, whose flags can be seen.
    let clone3 = with_other_numbers(BTreeMap::from([(libc::SYS_clone3, Vec::new())]));
    Ok(vec![filter(denied(network)?, libc::EPERM)?, filter(clone3, libc::ENOSYS)?])
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn denied(network: Network) -> Result<Rules, seccompiler::Error> {
    // An empty list of conditions means: always.
    let mut rules: Rules = ALWAYS_DENIED.iter().map(|call| (*call, Vec::new())).collect();
    let mut namespaces = Vec::new();
    for flag in NAMESPACE_FLAGS {
        let flag = u64::from(flag.unsigned_abs());
        let condition = SeccompCondition::new(0, Len::Qword, Cmp::MaskedEq(flag), flag)?;
        namespaces.push(SeccompRule::new(vec![condition])?);
    }
    rules.insert(libc::SYS_clone, namespaces);
    // Typing into the terminal of whoever started us.
    let mut ioctls = Vec::new();
    for request in [libc::TIOCSTI, libc::TIOCLINUX] {
        let condition = SeccompCondition::new(1, Len::Dword, Cmp::Eq, request)?;
        ioctls.push(SeccompRule::new(vec![condition])?);
    }
    rules.insert(libc::SYS_ioctl, ioctls);
    if network == Network::Off {
        // No local sockets either: no list of the doors of other programs is ever complete, and a
        // filter cannot see where a call would lead.
        rules.insert(libc::SYS_socket, Vec::new());
        rules.insert(libc::SYS_connect, Vec::new());
        rules.insert(libc::SYS_socketpair, pairs()?);
    }
    Ok(with_other_numbers(rules))
}

/// Pairs that reach anybody else. Of the local ones these are the kinds without a connection: such
/// a socket can send to every name.
fn pairs() -> Result<Vec<SeccompRule>, seccompiler::Error> {
    let unix = u64::from(libc::AF_UNIX.unsigned_abs());
    let mut conditions = vec![SeccompCondition::new(0, Len::Dword, Cmp::Ne, unix)?];
    for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
        let kind = u64::from(kind.unsigned_abs());
        conditions.push(SeccompCondition::new(1, Len::Dword, Cmp::MaskedEq(KIND), kind)?);
    }
    let rules = conditions.into_iter().map(|condition| SeccompRule::new(vec![condition]));
    Ok(rules.collect::<Result<_, _>>()?)
}

/// The bits of a socket's type that are not flags.
const KIND: u64 = 0xf;

/// On x86-64 a kernel may know every call by a second number (the x32 interface), and the filter
/// would see only that one.
fn with_other_numbers(rules: Rules) -> Rules {
    if cfg!(target_arch = "x86_64") {
        let x32 = rules.iter().map(|(call, rules)| (call | X32_BIT, rules.clone()));
        let moved = X32_MOVED.iter().map(|call| (call | X32_BIT, Vec::new()));
        let others: Rules = x32.chain(moved).collect();
        rules.into_iter().chain(others).collect()
    } else {
        rules
    }
}

const X32_BIT: i64 = 0x4000_0000;
/// Calls with a number of their own there: ioctl, ptrace, process_vm_readv and _writev, kexec_load.
const X32_MOVED: [i64; 5] = [514, 521, 539, 540, 528];

const NAMESPACE_FLAGS: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

const ALWAYS_DENIED: &[i64] = &[
    // Does input and output, sockets too, where no filter can see it.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Reaches into other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // The kernel's keys, programs, counters and page faults.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // Mounts.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    // Name spaces.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Other kernels, and parts of this one.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filters_compile() {
        for network in [Network::Off, Network::On] {
            assert_eq!(programs(network).unwrap().len(), 2);
        }
    }

    #[test]
    fn sockets_are_denied_without_network_only() {
        assert!(denied(Network::Off).unwrap().contains_key(&libc::SYS_socket));
        assert!(!denied(Network::On).unwrap().contains_key(&libc::SYS_socket));
    }
}
