//! What can be written, and what cannot.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use sabir_host::process::ExecError;
use sabir_host::sandbox::{Confined, Confinement, Layer, LayerChoice};

use super::{Place, in_each_layer, layers, run, runner, shell};

#[test]
fn only_the_roots_are_written() {
    in_each_layer(|place| {
        let outside = place.base.join("outside");
        fs::write(&outside, "before").unwrap();
        symlink(&outside, place.root.join("link")).unwrap();
        let out = outside.display().to_string();
        let confined = place.confined();
        place.refuse(
            &confined,
            &[
                &format!("touch {out}2"),
                &format!("echo x >> {out}"),
                "echo x > link",
                &format!("ln {out} hard"),
                &format!("mv {out} here"),
                &format!("rm -f {out}"),
                &format!("chmod 777 {out}"),
                &format!("touch -d 2000-01-01 {out}"),
                "mkdir ../sibling",
                "mv ../root ../other",
                "touch /etc/sabir-was-here",
                "touch /tmp/sabir-was-here",
                "echo x > /proc/sys/kernel/core_pattern",
                "echo x > /proc/self/oom_score_adj",
                "mount -t tmpfs none .",
                "umount /proc",
            ],
        );
        assert_eq!(fs::read_to_string(&outside).unwrap(), "before");
        assert_eq!(fs::metadata(&outside).unwrap().nlink(), 1);
        let finished = place.run("mkdir d && echo x > d/f && mv d/f g && ln g h && cat h");
        assert_eq!((finished.exit_code, finished.stdout.as_str()), (0, "x\n"), "{finished:?}");
        assert!(place.root.join("g").exists());
        let denied = place.run("touch /etc/x");
        assert!(denied.sandbox_denied, "{denied:?}");
    });
}

#[test]
fn without_roots_nothing_is_written() {
    in_each_layer(|place| {
        place.refuse(&Confined::default(), &["touch x", "touch /tmp/x", "echo x > /etc/x"]);
        let exec = shell("echo x > /dev/null && echo ok", &place.root, {
            Confinement::Confined(Confined::default())
        });
        assert_eq!(run(&place.runner, exec).unwrap().stdout, "ok\n");
    });
}

#[test]
fn roots_may_be_nested_and_missing() {
    in_each_layer(|place| {
        let inner = place.root.join("a/inner");
        fs::create_dir_all(inner.join(".git")).unwrap();
        let gone = place.base.join("gone");
        let confined = Confined {
            writable_roots: vec![inner.clone(), place.root.clone(), gone.clone()],
            ..Confined::default()
        };
        place.refuse(&confined, &["touch a/inner/.git/x", "touch .git/x", "mkdir ../gone"]);
        let exec = shell("touch x a/y a/inner/z", &place.root, Confinement::Confined(confined));
        let finished = run(&place.runner, exec).unwrap();
        assert_eq!(finished.exit_code, 0, "{finished:?}");
        assert_eq!(
            finished.warnings,
            [format!("{} stays read-only: it does not exist", gone.display())]
        );
    });
}

#[test]
fn an_existing_git_folder_stays_as_it_is() {
    in_each_layer(|place| {
        fs::create_dir_all(place.root.join(".git/hooks")).unwrap();
        fs::write(place.root.join(".git/config"), "before").unwrap();
        place.refuse(
            &place.confined(),
            &[
                "echo x > .git/config",
                "touch .git/hooks/pre-commit",
                "mv .git old",
                "mv .git/config old",
                "rm -r .git",
                "ln .git/config hard && echo x > hard",
                "cd .git && echo x > config",
                "ln -s .git alias && echo x > alias/config",
                "echo x > /proc/self/cwd/.git/config",
            ],
        );
        assert_eq!(fs::read_to_string(place.root.join(".git/config")).unwrap(), "before");
        assert_eq!(place.run("cat .git/config").stdout, "before");
    });
}

#[test]
fn a_missing_git_folder_cannot_be_made_and_leaves_no_trace() {
    in_each_layer(|place| {
        place.refuse(
            &place.confined(),
            &[
                "mkdir .git && echo x > .git/config",
                "echo 'gitdir: evil' > .git",
                "rmdir .git",
                "mkdir evil; mv evil .git && touch .git/x",
                "mkdir evil2; mv -T evil2 .git",
                "ln -sfn evil .git && test -L .git",
            ],
        );
        place.run("kill -9 $$");
        assert!(!place.root.join(".git").exists(), "{}", place.layer);
    });
}

#[test]
fn the_repository_above_the_working_directory_stays_as_it_is() {
    in_each_layer(|place| {
        let (repository, sub) = (place.root.join("p"), place.root.join("p/q/sub"));
        fs::create_dir_all(repository.join(".git/hooks")).unwrap();
        fs::create_dir_all(&sub).unwrap();
        let confined = Confined {
            writable_roots: vec![sub.clone(), place.root.clone()],
            ..Confined::default()
        };
        for line in [
            "touch ../../.git/hooks/pre-commit",
            "mv ../../.git ../../old",
            "mv ../../../p ../../../old",
            // Git would find this one first.
            "mkdir ../.git && touch ../.git/config",
            "mkdir .git && touch .git/config",
        ] {
            let exec = shell(line, &sub, Confinement::Confined(confined.clone()));
            let finished = run(&place.runner, exec).unwrap();
            assert_ne!(finished.exit_code, 0, "{}: `{line}` worked", place.layer);
        }
        let exec = shell("touch x ../y ../../z ../../../w", &sub, Confinement::Confined(confined));
        assert_eq!(run(&place.runner, exec).unwrap().exit_code, 0);
        assert!(!repository.join("q/.git").exists() && !sub.join(".git").exists());
        assert_eq!(fs::read_dir(repository.join(".git/hooks")).unwrap().count(), 0);
    });
}

#[test]
fn a_git_folder_elsewhere_in_the_root_keeps_its_path() {
    in_each_layer(|place| {
        fs::create_dir_all(place.root.join("deep/store/git")).unwrap();
        fs::write(place.root.join(".git"), "gitdir: deep/store/git\n").unwrap();
        place.refuse(
            &place.confined(),
            &[
                "echo x > .git",
                "rm .git",
                "touch deep/store/git/config",
                "mv deep old",
                "mv deep/store old",
                "rm -r deep",
            ],
        );
        assert_eq!(place.run("touch deep/x deep/store/y && cat .git").exit_code, 0);
        assert!(place.root.join("deep/store/git").is_dir());
    });
}

#[test]
fn a_link_for_git_is_held_by_our_own_name_spaces_or_refused() {
    let make = |place: &Place| {
        fs::create_dir(place.root.join("store")).unwrap();
        symlink("store", place.root.join(".git")).unwrap();
    };
    if layers().contains(&Layer::Namespaces) {
        let place = Place::new(Layer::Namespaces);
        make(&place);
        place.refuse(
            &place.confined(),
            &["rm .git", "mv .git x", "ln -sfn evil .git", "touch store/config", "mv store x"],
        );
        assert_eq!(place.run("cat .git").stdout, {
            format!("gitdir: {}\n", place.root.join("store").display())
        });
        let runner = runner(LayerChoice::Any);
        let finished = run(&runner, place.exec("true")).unwrap();
        assert_eq!(finished.layer, Some(Layer::Namespaces));
        assert!(place.root.join(".git").is_symlink());
    }
    if layers().contains(&Layer::Bubblewrap) {
        let place = Place::new(Layer::Bubblewrap);
        make(&place);
        let error = run(&place.runner, place.exec("true")).unwrap_err();
        assert!(matches!(error, ExecError::Unconfinable(_)), "{error}");
    }
}

#[test]
fn two_commands_share_the_missing_git_folder() {
    in_each_layer(|place| {
        let git = place.root.join(".git");
        std::thread::scope(|scope| {
            // Waits for the first to be gone, and then tries.
            let second = scope.spawn(|| {
                place.run("touch ready; while ! test -e go; do sleep 0.01; done; touch .git/x")
            });
            while !place.root.join("ready").exists() {
                std::thread::yield_now();
            }
            assert_eq!(place.run("true").exit_code, 0);
            assert!(git.is_dir(), "the second command still needs it");
            fs::write(place.root.join("go"), "").unwrap();
            assert_ne!(second.join().unwrap().exit_code, 0);
        });
        assert!(!git.exists());
    });
}

#[test]
fn own_state_is_read_only_and_keys_are_hidden() {
    in_each_layer(|place| {
        let home = place.root.join("state/home");
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join("journal"), "kept").unwrap();
        fs::write(home.join("provider.key"), "sesame").unwrap();
        let confined = Confined {
            read_only: vec![home.clone()],
            hidden: vec![home.join("provider.key")],
            ..place.confined()
        };
        place.refuse(
            &confined,
            &["touch state/home/x", "rm state/home/journal", "mv state old", "mv state/home old"],
        );
        let script = "cat state/home/journal state/home/provider.key; touch state/x";
        let exec = shell(script, &place.root, Confinement::Confined(confined));
        let finished = run(&place.runner, exec).unwrap();
        assert_eq!((finished.exit_code, finished.stdout.as_str()), (0, "kept"), "{finished:?}");
        assert_eq!(fs::read_to_string(home.join("provider.key")).unwrap(), "sesame");
    });
}
