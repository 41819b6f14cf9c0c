//! What a command cannot see and whom it cannot reach.

use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use sabir_host::process::ExecError;
use sabir_host::sandbox::{Confined, Confinement, LayerChoice, Network};

use super::{in_each_layer, run, runner, shell};

#[test]
fn the_network_is_off() {
    in_each_layer(|place| {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (tcp_port, udp_port) =
            (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
        let name = format!("sabir-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let _abstract = UnixListener::bind_addr(&address).unwrap();
        let door = place.root.join("door");
        let _door = UnixListener::bind(&door).unwrap();
        let connect = |family: &str, kind: &str, address: &str| {
            format!(
                "perl -MSocket -e 'socket(S, {family}, {kind}, 0) && connect(S, {address}) \
                 && send(S, \"x\", 0) or die $!'"
            )
        };
        let inet = |port| format!("sockaddr_in({port}, inet_aton(\"127.0.0.1\"))");
        let attempts = [
            connect("PF_INET", "SOCK_STREAM", &inet(tcp_port)),
            connect("PF_INET", "SOCK_DGRAM", &inet(udp_port)),
            connect("PF_UNIX", "SOCK_STREAM", &format!("sockaddr_un(\"\\0{name}\")")),
            connect("PF_UNIX", "SOCK_STREAM", &format!("sockaddr_un(\"{}\")", door.display())),
            "perl -MSocket -e 'socket(S, 16, SOCK_RAW, 0) or die $!'".to_owned(),
        ];
        let lines: Vec<&str> = attempts.iter().map(String::as_str).collect();
        place.refuse(&place.confined(), &lines);
        udp.set_nonblocking(true).unwrap();
        assert!(udp.recv(&mut [0]).is_err());

        // The attempts are real ones: with the network on, the same lines get through.
        let open = Confined { network: Network::On, ..place.confined() };
        for line in [&attempts[0], &attempts[1]] {
            let exec = shell(line, &place.root, Confinement::Confined(open.clone()));
            let finished = run(&place.runner, exec).unwrap();
            assert_eq!(finished.exit_code, 0, "{line}: {}", finished.stderr);
        }
        let talk = "perl -MSocket -e 'socketpair(A, B, PF_UNIX, SOCK_STREAM, 0) or die $!'";
        assert_eq!(place.run(talk).exit_code, 0);
    });
}

/// Sends to a local socket by its path, or fails.
fn knock(kind: &str, path: &Path) -> String {
    let path = path.display();
    match kind {
        "pair" => format!(
            "perl -MSocket -e 'socketpair(A, B, PF_UNIX, SOCK_DGRAM, 0) \
             && send(A, \"x\", 0, sockaddr_un(\"{path}\")) or die $!'"
        ),
        kind => format!(
            "perl -MSocket -e 'socket(S, PF_UNIX, {kind}, 0) && \
             connect(S, sockaddr_un(\"{path}\")) && send(S, \"x\", 0) or die $!'"
        ),
    }
}

/// What the kernel lists of them are names that lead nowhere.
#[test]
fn no_local_socket_is_reached_whatever_it_was_called() {
    in_each_layer(|place| {
        for folder in [&place.root, &place.base] {
            let opened = std::fs::File::open(folder).unwrap();
            let hidden = format!("/proc/self/fd/{}", opened.as_raw_fd());
            let door = folder.join("door");
            let _stream = UnixListener::bind(format!("{hidden}/door")).unwrap();
            let renamed = folder.join("renamed");
            let _renamed = UnixListener::bind(folder.join("before")).unwrap();
            std::fs::rename(folder.join("before"), &renamed).unwrap();
            let letters = folder.join("letters");
            let letterbox = UnixDatagram::bind(format!("{hidden}/letters")).unwrap();
            letterbox.set_nonblocking(true).unwrap();
            let attempts = [
                knock("SOCK_STREAM", &door),
                knock("SOCK_STREAM", &renamed),
                knock("SOCK_DGRAM", &letters),
                knock("pair", &letters),
            ];
            let lines: Vec<&str> = attempts.iter().map(String::as_str).collect();
            place.refuse(&place.confined(), &lines);
            assert!(letterbox.recv(&mut [0]).is_err());
            // The attempts are real ones.
            for line in lines {
                let exec = shell(line, &place.root, Confinement::FullAccess);
                let finished = run(&place.runner, exec).unwrap();
                assert_eq!(finished.exit_code, 0, "{line}: {}", finished.stderr);
            }
        }
    });
}

/// What people work with makes no local sockets, or lives without them.
#[test]
fn ordinary_programs_work_without_sockets() {
    in_each_layer(|place| {
        let script = "set -e; git init -q repo; cd repo; echo x > f; git add f; \
            git -c user.name=n -c user.email=e commit -q -m m; git log --oneline | wc -l; \
            id -un > /dev/null; bash -c 'cat <(echo y)'; \
            perl -MSocket -e 'socketpair(A, B, PF_UNIX, SOCK_STREAM, 0) or die $!'";
        let finished = place.run(script);
        assert_eq!((finished.exit_code, finished.stdout.as_str()), (0, "1\ny\n"), "{finished:?}");
    });
}

#[test]
fn with_network_too_our_own_sockets_are_out_of_reach() {
    in_each_layer(|place| {
        for folder in [&place.root, &place.base] {
            let socket = folder.join("socket");
            let _ours = UnixListener::bind(folder.join("before")).unwrap();
            std::fs::rename(folder.join("before"), &socket).unwrap();
            let open = Confined { network: Network::On, ..place.confined() };
            let knock = knock("SOCK_STREAM", &socket);
            let exec = shell(&knock, &place.root, Confinement::Confined(open));
            let reached = run(&place.runner, exec.clone()).unwrap();
            assert_eq!(reached.exit_code, 0, "{reached:?}");
            let runner = runner(LayerChoice::Only(place.layer)).hiding([socket]);
            let finished = run(&runner, exec).unwrap();
            assert_ne!(finished.exit_code, 0, "{finished:?}");
        }
    });
}

#[test]
fn a_runner_may_refuse_the_network() {
    in_each_layer(|place| {
        let runner = runner(LayerChoice::Only(place.layer)).without_network();
        let open = Confined { network: Network::On, ..place.confined() };
        let refused = run(&runner, shell("true", &place.root, Confinement::Confined(open)));
        assert!(matches!(refused, Err(ExecError::NetworkIsRefused)), "{refused:?}");
        assert_eq!(run(&runner, place.exec("true")).unwrap().exit_code, 0);
    });
}

/// Those that are there when a command is confined are covered; by then they may be gone.
#[test]
fn sockets_that_come_and_go_hold_up_no_command() {
    in_each_layer(|place| {
        let open = Confined { network: Network::On, ..place.confined() };
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let _restless = scope.spawn(|| {
                let path = place.base.join("restless");
                while !done.load(Ordering::Relaxed) {
                    drop(UnixListener::bind(&path).unwrap());
                    std::fs::remove_file(&path).unwrap();
                }
            });
            for _ in 0..20 {
                let exec = shell("true", &place.root, Confinement::Confined(open.clone()));
                let finished = run(&place.runner, exec);
                let is_good = finished.as_ref().is_ok_and(|it| it.exit_code == 0);
                if !is_good {
                    done.store(true, Ordering::Relaxed);
                }
                assert!(is_good, "{finished:?}");
            }
            done.store(true, Ordering::Relaxed);
        });
    });
}

/// By number: 425 is io_uring_setup on every architecture. The others are named by programs.
#[test]
fn system_calls_are_denied() {
    in_each_layer(|place| {
        let setup = "perl -e '$r = syscall(425, 1, 0); print $r, \" \", $!+0'";
        assert_eq!(place.run(setup).stdout, "-1 1");
        place.refuse(&place.confined(), &["unshare -U true", "unshare -m true", "chroot / true"]);
        // Bit 28 is a new user name space.
        let clone = "perl -e '$r = syscall(56, 0x10000000 | 17, 0, 0, 0, 0); \
                     print \"$r \", $!+0'";
        if cfg!(target_arch = "x86_64") {
            assert_eq!(place.run(clone).stdout, "-1 1");
        }
        let threads = "perl -e '$p = fork; exit 0 unless $p; waitpid $p, 0; print $?'";
        assert_eq!(place.run(threads).stdout, "0");
    });
}

#[test]
fn secrets_of_the_environment_are_gone() {
    in_each_layer(|place| {
        // Through the program, so that the variable is in the environment of all its helpers'
        // parents.
        let mut command = crate::process::sabir();
        command
            .args(["sandbox", "--layer", place.layer.name(), "--", "sh", "-c"])
            .arg("env; cat /proc/*/environ; echo; ls -d /proc/[0-9]*")
            .current_dir(&place.root)
            .env("MY_API_KEY", "sesame")
            .env("my_token", "sesame")
            .env("A_Secret_B", "sesame")
            .env("DB_PASSWORD", "sesame")
            .env("HARMLESS", "visible");
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("HARMLESS=visible"), "{text}");
        assert!(text.contains("SABIR_SANDBOX_NETWORK_DISABLED=1"), "{text}");
        assert!(!text.contains("sesame"), "{text}");
        assert!(!text.contains(&format!("/proc/{}\n", std::process::id())), "{text}");
    });
}

/// Under full access the processes of the machine are visible, but not what they hold.
#[test]
fn the_program_keeps_its_environment_to_itself() {
    let mut command = crate::process::sabir();
    command
        .args(["sandbox", "--mode", "danger-full-access", "--", "sh", "-c"])
        .arg("env; tr '\\0' '\\n' < /proc/$PPID/environ")
        .env("MY_API_KEY", "sesame");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("PATH="), "{text}");
    assert!(!text.contains("sesame"), "{text}");
}

#[test]
fn there_is_no_input_and_no_open_file() {
    in_each_layer(|place| {
        let finished = place.run("cat; wc -c; ls -l /proc/self/fd");
        assert_eq!(finished.stdout.lines().next(), Some("0"), "{}", finished.stdout);
        let open = finished.stdout.lines().filter(|line| line.contains("->")).count();
        // Input, two outputs, and the folder that `ls` reads.
        assert_eq!(open, 4, "{}", finished.stdout);
    });
}
