//! Approvals: one thing, once, for a while.

use std::thread;

use sabir_store::Hash;
use sabir_store::library::{ApprovalAnswer, ApprovalState, LibraryError, NewApproval, Spent};

use super::sample::open;
use crate::sample::home;

fn question(binding: &Hash) -> NewApproval {
    NewApproval {
        binding: *binding,
        subject: "browser.navigate".to_owned(),
        question: "open https://a.example?".to_owned(),
        expires_at_ms: 100,
    }
}

/// LC-S17: a yes is for what was asked, and used up by the first use.
#[test]
fn a_yes_is_used_once_and_for_one_thing() {
    let home = home();
    let library = open(home.path());
    let (binding, other) = (Hash::of(b"this"), Hash::of(b"that"));
    let id = library.ask_approval(&question(&binding), 1).unwrap().id;
    assert_eq!(library.open_approvals(10, 2).unwrap()[0].id, id);
    let spend = |binding, now| library.use_approval(&id, binding, now).unwrap();
    assert_eq!(spend(&binding, 2), Spent::Refused(ApprovalState::Asked));
    let approved = library.answer_approval(&id, ApprovalAnswer::Approve, "ana", 3).unwrap();
    assert_eq!(
        (approved.state, approved.decided_by.as_deref()),
        (ApprovalState::Approved, Some("ana"))
    );
    // The first answer counts.
    let late = library.answer_approval(&id, ApprovalAnswer::Deny, "ben", 4).unwrap();
    assert_eq!(late, approved);
    assert_eq!(spend(&other, 5), Spent::WrongBinding);
    let Spent::Granted(used) = spend(&binding, 6) else { panic!() };
    assert_eq!((used.state, used.used_at_ms), (ApprovalState::Used, Some(6)));
    assert_eq!(spend(&binding, 7), Spent::Refused(ApprovalState::Used));
    assert_eq!(library.open_approvals(10, 8).unwrap(), []);
}

/// LC-S17: of any number who try to use it at once, one is granted it.
#[test]
fn one_of_many_is_granted_it() {
    let home = home();
    let binding = Hash::of(b"this");
    let library = open(home.path());
    for _ in 0..5 {
        let id = library.ask_approval(&question(&binding), 1).unwrap().id;
        library.answer_approval(&id, ApprovalAnswer::Approve, "ana", 2).unwrap();
        let granted: usize = thread::scope(|scope| {
            let tries: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        // Each with a connection of its own, as another process would have.
                        let spent = open(home.path()).use_approval(&id, &binding, 3).unwrap();
                        usize::from(matches!(spent, Spent::Granted(_)))
                    })
                })
                .collect();
            tries.into_iter().map(|one| one.join().unwrap()).sum()
        });
        assert_eq!(granted, 1);
    }
}

/// LC-S17: what has expired stays so, whatever a clock says later; a no is a no.
#[test]
fn what_has_expired_stays_so() {
    let home = home();
    let library = open(home.path());
    let binding = Hash::of(b"this");
    let ids: Vec<_> =
        (0..3).map(|_| library.ask_approval(&question(&binding), 1).unwrap().id).collect();
    library.answer_approval(&ids[0], ApprovalAnswer::Approve, "ana", 3).unwrap();
    library.answer_approval(&ids[1], ApprovalAnswer::Deny, "ana", 3).unwrap();
    for now in [100, 4] {
        let spend = |id| library.use_approval(id, &binding, now).unwrap();
        assert_eq!(spend(&ids[0]), Spent::Refused(ApprovalState::Expired));
        assert_eq!(spend(&ids[1]), Spent::Refused(ApprovalState::Denied));
        let late = library.answer_approval(&ids[2], ApprovalAnswer::Approve, "ana", now).unwrap();
        assert_eq!(late.state, ApprovalState::Expired);
    }
    assert!(matches!(
        library.ask_approval(&question(&binding), 100),
        Err(LibraryError::Invalid { .. })
    ));
}
