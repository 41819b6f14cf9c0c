//! Citations of messages and artifacts.

use expect_test::expect;
use sabir_store::library::{
    ChatRole, CitationStatus, CollectionId, Library, NewChatEvent, NewCitation, SourceId, Turn,
    VersionId,
};

use super::artifacts::artifact;
use super::chat::message;
use super::sample::{capture, collection, open};
use crate::sample::home;

struct Cited {
    library: Library,
    collection: CollectionId,
    source: SourceId,
    version: VersionId,
}

fn cited(home: &std::path::Path) -> Cited {
    let library = open(home);
    let collection = collection(&library, "c").id;
    let source = capture(&library, &collection, "https://a.example", "A", "Die Tür ist grün.");
    let version = library.source(&source).unwrap().current_version.unwrap();
    Cited { library, collection, source, version }
}

impl Cited {
    fn verified(&self) -> NewCitation {
        NewCitation {
            source_id: self.source.to_string(),
            version: Some(self.version.clone()),
            status: CitationStatus::Verified,
            how: Some("exact".to_owned()),
            quote: "Tür ist grün".to_owned(),
            place: Some(4..18),
            text_fragment: Some("#:~:text=T%C3%BCr".to_owned()),
        }
    }

    fn answer(&self, citations: Vec<NewCitation>) -> NewChatEvent {
        assert!(self.library.last_turn(&self.collection).is_ok());
        NewChatEvent { citations, ..message(ChatRole::Assistant, Turn::Next, "Green [1].") }
    }
}

/// LC-S15: a citation says which version was quoted, and where.
#[test]
fn citations_are_kept_with_their_places() {
    let home = home();
    let it = cited(home.path());
    let unknown = NewCitation {
        source_id: "src_of a model's dream".to_owned(),
        version: None,
        status: CitationStatus::UnknownSource,
        how: None,
        quote: "who knows".to_owned(),
        place: None,
        text_fragment: None,
    };
    let citations = vec![it.verified(), unknown];
    let event = it.library.append_chat(&it.collection, &it.answer(citations.clone()), 5).unwrap();
    let kept = it.library.citations_of_chat(&event.id).unwrap();
    assert_eq!(kept.iter().map(|one| one.position).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((kept[0].place.clone(), kept[0].version.as_ref()), (Some(4..18), Some(&it.version)));
    assert_eq!(kept[0].address.as_deref(), Some("https://a.example"));
    assert_eq!(
        (kept[1].source_id.as_str(), kept[1].address.as_ref()),
        ("src_of a model's dream", None)
    );
    let saved = it.library.save_artifact(&artifact(None), "text", &citations, 6).unwrap();
    let of_artifact = it.library.citations_of_artifact(&saved.id).unwrap();
    assert_eq!(of_artifact.len(), 2);
    assert_eq!((&of_artifact[0].quote, &of_artifact[0].place), (&kept[0].quote, &kept[0].place));
}

/// LC-S15: the version that was quoted stays the one that was quoted; a removed source leaves the
/// words.
#[test]
fn citations_survive_a_refresh_and_a_removal() {
    let home = home();
    let it = cited(home.path());
    let event = it.library.append_chat(&it.collection, &it.answer(vec![it.verified()]), 5).unwrap();
    capture(&it.library, &it.collection, "https://a.example", "A", "Die Tür ist rot.");
    let kept = it.library.citations_of_chat(&event.id).unwrap().remove(0);
    let text = it.library.version_text(kept.version.as_ref().unwrap()).unwrap().markdown;
    assert_eq!(&text[4..18], "Tür ist grün");
    it.library.remove_source(&it.source, 9).unwrap();
    let left = it.library.citations_of_chat(&event.id).unwrap().remove(0);
    assert_eq!((left.version, left.quote), (None, kept.quote));
    assert_eq!((left.source_id, left.address), (it.source.to_string(), None));
    it.library.verify().unwrap();
}

/// LC-S15: found words without a place, and places that do not exist, are refused, and the message
/// with them.
#[test]
fn a_citation_of_nowhere_is_refused() {
    let home = home();
    let it = cited(home.path());
    let good = it.verified();
    let other = capture(&it.library, &it.collection, "https://b.example", "B", "other words here");
    let wrong = [
        NewCitation { version: None, place: None, ..good.clone() },
        NewCitation { place: None, ..good.clone() },
        NewCitation { place: Some(4..1000), ..good.clone() },
        // Half a letter.
        NewCitation { place: Some(4..6), ..good.clone() },
        NewCitation { place: Some(5..5), ..good.clone() },
        NewCitation { place: Some(u64::MAX - 1..u64::MAX), ..good.clone() },
        NewCitation { source_id: other.to_string(), ..good.clone() },
        NewCitation { version: VersionId::parse("ver_none"), ..good.clone() },
        NewCitation { status: CitationStatus::Ambiguous, version: None, ..good },
    ];
    let said: String = wrong
        .into_iter()
        .map(|citation| {
            let answer = it.answer(vec![it.verified(), citation]);
            format!("{}\n", it.library.append_chat(&it.collection, &answer, 5).unwrap_err())
        })
        .collect();
    expect![[r#"
        a citation cannot be kept: it does not say which version was quoted
        a citation cannot be kept: it does not say where its words stand
        a citation cannot be kept: its place is not in the text
        a citation cannot be kept: its place is not in the text
        a citation cannot be kept: its place is not in the text
        a citation cannot be kept: its place is not in the text
        a citation cannot be kept: its version is one of another source
        there is no version `ver_none`
        a citation cannot be kept: it does not say which version was quoted
    "#]]
    .assert_eq(&said);
    assert_eq!(it.library.recent_chat(&it.collection, None, 10).unwrap(), []);
}
