//! The picture of a person and the recording of their name: files whose names end as those of images and of sound do.
//!
//! Their bytes are never looked at. They are sent with the media type that follows from the name, and no other: a browser
//! takes them for an image or for sound, or for nothing.

use entity_core::blob::{self, Blob, Receive, Room, StoredFile, Target};
use entity_core::reply::Bytes;
use entity_core::{ActionResult, Arguments, Context, Error, Operation, Result, db, gate};

use super::Profile;

/// The media types of pictures.
pub(super) const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];
/// The media types of recordings.
pub(super) const RECORDINGS: &[&str] = &[
    "audio/mpeg",
    "audio/mp4",
    "audio/m4a",
    "audio/ogg",
    "audio/wav",
    "audio/webm",
];
/// The parameter of the actions that take a file.
pub(super) const NAME: &[(&str, &str)] = &[(
    "name",
    "the name of the file, unless it comes with the file: its ending says of which kind it is",
)];

/// The maximum number of bytes of a file.
const MOST_BYTES: u64 = 2 << 20;

/// A picture of one transparent point.
const BLANK: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
    \0\0\0\x0bIDATx\xdac`\0\x02\0\0\x05\0\x01\xe9\xfa\xdc\xd8\0\0\0\0IEND\xaeB`\x82";

/// One of the two files of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum File {
    /// The picture.
    Picture,
    /// The recording of the name.
    Recording,
}

impl File {
    /// Returns the media type of a file with this name, if it can be this file of a profile.
    fn media_type(self, name: &str) -> Result<&'static str> {
        let (types, message) = match self {
            Self::Picture => (
                PICTURES,
                "must be a picture whose name ends with .png, .jpg, .gif or .webp",
            ),
            Self::Recording => (
                RECORDINGS,
                "must be a recording whose name ends with .mp3, .m4a, .ogg, .wav or .weba",
            ),
        };
        let media_type = blob::media_type(name);
        match types.contains(&media_type) {
            true => Ok(media_type),
            false => Err(Error::field("name", message)),
        }
    }

    /// Returns the file of `profile`, if there is one.
    fn of(self, profile: &Profile) -> Option<StoredFile> {
        let (blob, media_type, name) = match self {
            Self::Picture => (profile.picture?, &profile.picture_type, "picture"),
            Self::Recording => (profile.recording?, &profile.recording_type, "pronunciation"),
        };
        let file = StoredFile {
            media_type: media_type.clone(),
            ..StoredFile::named(blob, name)
        };
        Some(file.inline())
    }

    /// Stores `blob` as this file of the person's profile, or removes the file.
    pub(super) async fn put(
        self,
        cx: &Context,
        profile: &Profile,
        file: Option<(Blob, &str)>,
    ) -> Result<Profile> {
        gate::require::<Profile>(cx, profile, Operation::Update).await?;
        if file.is_none() && self.of(profile).is_none() {
            return Ok(profile.clone());
        }
        let (blob, media_type) = file.unzip();
        let media_type = media_type.unwrap_or_default();
        let change = |it: &mut Profile| match self {
            Self::Picture => {
                it.picture = blob;
                media_type.clone_into(&mut it.picture_type);
            }
            Self::Recording => {
                it.recording = blob;
                media_type.clone_into(&mut it.recording_type);
            }
        };
        let blank = Profile::blank(&profile.user_uuid);
        let (stored, is_changed) = db::put(cx, blank, change).await?;
        if is_changed {
            cx.emit_about::<Profile>("profile.revise", &stored);
        }
        gate::read::<Profile>(cx, &profile.user_uuid).await
    }
}

impl Receive for Profile {
    const IN_FORMS: bool = false;

    async fn room(cx: &Context, target: Target<'_>) -> Result<Room> {
        let profile = gate::read::<Self>(cx, target.id).await?;
        gate::require::<Self>(cx, &profile, Operation::Update).await?;
        Ok(Room::of(MOST_BYTES))
    }
}

/// Whoever may not see the picture is answered the same whether there is one or not.
pub(super) async fn picture(
    _cx: &Context,
    profile: Profile,
    _: Arguments,
) -> Result<ActionResult<Profile>> {
    if !profile.known.profile {
        return Ok(ActionResult::Bytes(Bytes {
            media_type: "image/png".into(),
            bytes: BLANK.to_vec(),
            name: None,
        }));
    }
    let file = File::Picture.of(&profile).ok_or_else(Error::not_found)?;
    Ok(ActionResult::File(file))
}

pub(super) async fn recording(
    _cx: &Context,
    profile: Profile,
    _: Arguments,
) -> Result<ActionResult<Profile>> {
    let file = File::Recording.of(&profile);
    let file = file.filter(|_| profile.known.profile);
    file.map(ActionResult::File).ok_or_else(Error::not_found)
}

pub(super) async fn put_picture(
    cx: &Context,
    profile: Profile,
    arguments: Arguments,
) -> Result<ActionResult<Profile>> {
    receive(cx, profile, &arguments, File::Picture).await
}

pub(super) async fn put_recording(
    cx: &Context,
    profile: Profile,
    arguments: Arguments,
) -> Result<ActionResult<Profile>> {
    receive(cx, profile, &arguments, File::Recording).await
}

async fn receive(
    cx: &Context,
    profile: Profile,
    arguments: &Arguments,
    file: File,
) -> Result<ActionResult<Profile>> {
    // Whoever may not change the profile is told that, whatever was sent.
    gate::require::<Profile>(cx, &profile, Operation::Update).await?;
    let upload = arguments.upload()?;
    let name = upload.name.as_deref().or(arguments.parameter("name"));
    let media_type = file.media_type(name.unwrap_or_default())?;
    if upload.blob.size() == 0 {
        return Err(Error::bad_request("the file is empty: send one with bytes"));
    }
    let stored = Some((upload.blob, media_type));
    file.put(cx, &profile, stored)
        .await
        .map(ActionResult::Entity)
}

pub(super) async fn remove_picture(
    cx: &Context,
    profile: Profile,
    _: Arguments,
) -> Result<Profile> {
    let changed = File::Picture.put(cx, &profile, None).await?;
    Ok(changed)
}

pub(super) async fn remove_recording(
    cx: &Context,
    profile: Profile,
    _: Arguments,
) -> Result<Profile> {
    let changed = File::Recording.put(cx, &profile, None).await?;
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_images_and_of_sound_are_taken() {
        for (name, is_picture, is_recording) in [
            ("a.png", true, false),
            ("a.JPG", true, false),
            ("a.jpeg", true, false),
            ("a.gif", true, false),
            ("a.webp", true, false),
            ("a.mp3", false, true),
            ("a.m4a", false, true),
            ("a.ogg", false, true),
            ("a.wav", false, true),
            ("a.weba", false, true),
            ("a.svg", false, false),
            ("a.svgz", false, false),
            ("a.png.html", false, false),
            ("a.html", false, false),
            ("a.xhtml", false, false),
            ("a.pdf", false, false),
            ("a.tiff", false, false),
            ("a.ico", false, false),
            ("png", false, false),
            ("", false, false),
        ] {
            assert_eq!(File::Picture.media_type(name).is_ok(), is_picture, "{name}");
            let is_sound = File::Recording.media_type(name).is_ok();
            assert_eq!(is_sound, is_recording, "{name}");
        }
    }
}
