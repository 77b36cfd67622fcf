//! The profiles of the demo university: some students tell how they like to be called, and one has a picture.

use entity_core::{Context, Demo, Result, db};

use super::Profile;

/// Who is called how, with which pronouns, pronounced how, and with which number.
const PEOPLE: [(&str, &str, &str, &str, &str); 5] = [
    ("instructor1", "", "she/her", "oh-KAH-for", ""),
    ("student1", "Addie", "she/her", "AY-duh moh-ROH", "S2026001"),
    ("student2", "Ben", "he/him", "", "S2026002"),
    ("student5", "", "she/her", "EH-leaf", "S2026005"),
    ("student17", "Q", "they/them", "", "S2026017"),
];

/// The person with a picture.
const PICTURED: &str = "student1";
/// A green disc of eight by eight points.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x08\0\0\0\x08\x08\x02\0\0\
    \0Km)\xdc\0\0\0%IDATx\xdac\xf8\xf2\xee.\x04Y\xd5\xc6\0\x11\x9c\xcb\
    \0\x17BFx%0E!\x08\xb7\x04\xe9v\xe0r.\0\xe9\xc5f1\xc8\x0e\x92E\0\0\
    \0\0IEND\xaeB`\x82";

/// Adds the profiles and returns their number.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    let text = |it: &str| Some(it.to_owned()).filter(|it| !it.is_empty());
    for (eid, nickname, pronouns, pronunciation, number) in PEOPLE {
        let mut profile = Profile {
            nickname: text(nickname),
            pronouns: text(pronouns),
            pronunciation: text(pronunciation),
            student_number: text(number),
            ..Profile::blank(demo.person(eid)?)
        };
        if eid == PICTURED {
            profile.picture = Some(db::blobs::keep(cx, PICTURE).await?);
            "image/png".clone_into(&mut profile.picture_type);
        }
        db::insert(cx, &profile).await?;
    }
    Ok(PEOPLE.len())
}
