//! Files as bytes: the columns of a file, the store of its bytes, upload and download.
//!
//! A [`Blob`] is the digest and the size of a file, and a field of a record. The bytes themselves are in the
//! [`BlobStore`] of the service, named by their digest: equal files are stored once, and no name that a client chose
//! ever becomes a path. Bytes are stored before the row that names them; what no row names is removed later.
//!
//! - An operation that takes files declares it by [`Receive`]. The service streams the files into the store before the
//!   unit of work opens, and the operation finds them as [`Upload`]s.
//! - An operation that answers with a file returns a [`StoredFile`], which the service streams; one that answers
//!   with several returns a [`Bundle`].

mod bundle;
mod identity;
mod media;
mod receive;
mod store;
mod stored;
mod upload;
mod whole;

pub use bundle::{Bundle, Bundled};
pub use identity::Blob;
pub use media::{OCTETS, file_name, media_type};
pub(crate) use receive::ReceiveRoute;
pub use receive::{Receive, Reception, Room, Target};
pub use store::{
    BlobStore, BlobWriter, Blobs, ByteStream, FILE_DAMAGED, Incoming, Opened, Received, damaged,
};
pub use stored::{Disposition, StoredFile};
pub use upload::Upload;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_holds_the_digest_and_the_size() {
        let blob = Blob::of(b"abc");
        let column = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad:3";
        assert_eq!(blob.to_column(), column);
        assert_eq!(Blob::parse(column), Some(blob));
        for wrong in ["", ":3", "ba78:3", column.trim_end_matches(":3"), "x", ":"] {
            assert_eq!(Blob::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Blob::of(b"").size(), 0);
    }
}
