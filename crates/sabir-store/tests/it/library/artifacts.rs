//! Artifacts: saved, made, outliving.

use sabir_store::library::{
    ArtifactStatus, Begun, CollectionId, Fault, LibraryError, MAX_BODY, NewArtifact, SourceId,
    Worker,
};

use super::sample::{collection, open};
use crate::sample::home;

pub(crate) fn artifact(collection_id: Option<CollectionId>) -> NewArtifact {
    NewArtifact {
        collection_id,
        kind: "timeline".to_owned(),
        title: "A timeline".to_owned(),
        tags: vec!["trip".to_owned()],
        source_ids: vec![SourceId::parse("src_1").unwrap()],
        config: r#"{"order":"newest"}"#.to_owned(),
        dedupe_key: Some("timeline of c".to_owned()),
    }
}

/// LC-S13: an artifact needs no collection, and outlives the one that it came from.
#[test]
fn artifacts_outlive_their_collection() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let of_a_collection =
        library.save_artifact(&artifact(Some(id.clone())), "- 1912", &[], 5).unwrap();
    let saved = library.save_artifact(&artifact(None), "kept", &[], 6).unwrap();
    assert_eq!(saved.collection_id, None);
    assert_eq!(library.artifacts(Some(&id), None, 10).unwrap().len(), 1);
    library.delete_collection(&id).unwrap();
    let left = library.artifact(&of_a_collection.id).unwrap();
    assert_eq!((left.collection_id, left.markdown.as_str()), (None, "- 1912"));
    assert_eq!((left.tags, left.source_ids), (of_a_collection.tags, of_a_collection.source_ids));
    let listed = library.artifacts(None, None, 10).unwrap();
    assert_eq!(
        listed.iter().map(|one| one.id.clone()).collect::<Vec<_>>(),
        [saved.id.clone(), of_a_collection.id]
    );
    assert_eq!(listed[0].markdown, "", "a list has no texts");
    assert_eq!(library.artifacts(None, Some(listed[0].num), 10).unwrap().len(), 1);
    library.delete_artifact(&saved.id).unwrap();
    assert!(matches!(library.artifact(&saved.id), Err(LibraryError::NotFound { .. })));
}

#[test]
fn what_failed_is_counted_apart() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let worker = Worker::start(&library).unwrap();
    let new = NewArtifact { dedupe_key: None, ..artifact(Some(id.clone())) };
    library.save_artifact(&new, "done", &[], 1).unwrap();
    let mut begun = (0..3).map(|_| match worker.begin_artifact(&new, 2).unwrap() {
        Begun::Started(id) => id,
        Begun::AlreadyRunning(_) => panic!(),
    });
    worker.fail_artifact(&begun.next().unwrap(), &Fault::new("no", "no"), 3).unwrap();
    library.cancel_artifact(&begun.next().unwrap(), 3).unwrap();
    // The third is still being made.
    begun.next().unwrap();
    let counts = library.collection_counts(&id).unwrap();
    assert_eq!((counts.artifacts, counts.failed_artifacts), (1, 1));
}

/// LC-S14: the same is not made twice at a time; what a dead process made has failed.
#[test]
fn the_same_is_made_once_at_a_time() {
    let home = home();
    let library = open(home.path());
    let (first, second) = (Worker::start(&library).unwrap(), Worker::start(&library).unwrap());
    let new = artifact(None);
    let Begun::Started(id) = first.begin_artifact(&new, 1).unwrap() else { panic!() };
    assert_eq!(second.begin_artifact(&new, 2).unwrap(), Begun::AlreadyRunning(id.clone()));
    assert!(!second.finish_artifact(&id, "not mine", &[], 3).unwrap());
    // Without a key nothing is the same.
    let loose = NewArtifact { dedupe_key: None, ..new.clone() };
    for _ in 0..2 {
        assert!(matches!(second.begin_artifact(&loose, 3).unwrap(), Begun::Started(_)));
    }
    drop(first);
    let Begun::Started(again) = second.begin_artifact(&new, 4).unwrap() else { panic!() };
    let dead = library.artifact(&id).unwrap();
    assert_eq!(
        (dead.status, dead.fault.unwrap().code.as_str()),
        (ArtifactStatus::Failed, "worker_died")
    );
    assert!(second.finish_artifact(&again, "made", &[], 5).unwrap());
    assert!(!second.finish_artifact(&again, "made twice", &[], 6).unwrap());
    let done = library.artifact(&again).unwrap();
    assert_eq!((done.status, done.markdown.as_str()), (ArtifactStatus::Completed, "made"));
    assert_eq!(library.cancel_artifact(&again, 7).unwrap(), ArtifactStatus::Completed);
    let Begun::Started(unwanted) = second.begin_artifact(&new, 7).unwrap() else { panic!() };
    assert_eq!(library.cancel_artifact(&unwanted, 7).unwrap(), ArtifactStatus::Cancelled);
    assert!(!second.finish_artifact(&unwanted, "too late", &[], 7).unwrap());
    // Now it may be made anew; what cannot be made says why.
    let Begun::Started(failing) = second.begin_artifact(&new, 7).unwrap() else { panic!() };
    let fault = Fault::new("no_sources", "there is nothing to make it of");
    assert!(second.fail_artifact(&failing, &fault, 8).unwrap());
    assert!(!second.fail_artifact(&failing, &fault, 9).unwrap());
    assert_eq!(library.artifact(&failing).unwrap().fault, Some(fault));
}

/// LC-S24: an artifact has a size.
#[test]
fn artifacts_are_bounded() {
    let home = home();
    let library = open(home.path());
    let long = "x".repeat(MAX_BODY + 1);
    assert!(matches!(
        library.save_artifact(&artifact(None), &long, &[], 1),
        Err(LibraryError::TooLarge { .. })
    ));
    let wrong = NewArtifact { config: "none".to_owned(), ..artifact(None) };
    assert!(matches!(
        library.save_artifact(&wrong, "x", &[], 1),
        Err(LibraryError::Invalid { .. })
    ));
    assert_eq!(library.artifacts(None, None, 10).unwrap(), []);
}
