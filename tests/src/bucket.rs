//! A service that speaks the protocol of Amazon's object storage, in this process, with its objects in a folder.

use std::fs;
use std::path::{Path, PathBuf};

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The bucket that is there.
pub const BUCKET: &str = "lectern";
/// The key with which a client logs in, and its id.
pub const KEY: (&str, &str) = ("an-id", "a-secret");

/// The service, which ends when this is dropped.
#[derive(Debug)]
pub struct BucketServer {
    endpoint: String,
    folder: TempDir,
    serving: JoinHandle<()>,
}

impl BucketServer {
    /// Starts the service with one empty bucket.
    pub async fn start() -> Self {
        let folder = TempDir::new().expect("a folder for temporary files can be made");
        fs::create_dir(folder.path().join(BUCKET)).expect("room for a folder");
        let files = FileSystem::new(folder.path()).expect("a folder");
        let mut builder = S3ServiceBuilder::new(files);
        builder.set_auth(SimpleAuth::from_single(KEY.0, KEY.1));
        let service = builder.build();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let serving = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let service = service.clone();
                connections.spawn(async move {
                    let served = http1::Builder::new()
                        .serve_connection(TokioIo::new(socket), service)
                        .await;
                    // A client may go away whenever it likes.
                    drop(served);
                });
            }
        });
        Self {
            endpoint: format!("http://{address}"),
            folder,
            serving,
        }
    }

    /// The address of the service.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The settings of a service whose files are in the bucket, below a prefix.
    pub fn settings(&self) -> [(&str, &str); 4] {
        [
            ("files.url", "s3://lectern/a/prefix"),
            ("files.endpoint", &self.endpoint),
            ("files.accessKey", KEY.0),
            ("files.secretKey", KEY.1),
        ]
    }

    /// Returns the paths of the objects below the prefix, in order, without those that only the service needs.
    pub fn objects(&self) -> Vec<String> {
        let folder = self.folder.path().join(BUCKET).join("a/prefix");
        let mut found: Vec<String> = files_below(&folder)
            .iter()
            .filter_map(|it| Some(it.strip_prefix(&folder).ok()?.display().to_string()))
            .collect();
        found.sort_unstable();
        found
    }

    /// The file with the object at this path below the prefix.
    pub fn place(&self, object: &str) -> PathBuf {
        self.folder
            .path()
            .join(BUCKET)
            .join("a/prefix")
            .join(object)
    }

    /// The files that the service keeps for uploads in parts which did not come to their end.
    pub fn parts(&self) -> Vec<PathBuf> {
        let bucket = self.folder.path().join(BUCKET);
        let mut found = files_below(self.folder.path());
        found.retain(|it| !it.starts_with(&bucket));
        found.retain(|it| it.display().to_string().contains("upload"));
        found
    }

    /// Ends the service, and cuts its connections.
    pub fn stop(&self) {
        self.serving.abort();
    }
}

impl Drop for BucketServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        let entries = fs::read_dir(next).into_iter().flatten().flatten();
        for path in entries.map(|it| it.path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files
}
