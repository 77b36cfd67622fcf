//! Serves the yardstick of the benchmark. Arguments: file, port, cookie.
#![expect(
    clippy::expect_used,
    reason = "a yardstick that can't measure says so and stops"
)]

use load::bare;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().expect("arguments: file, port, cookie");
    let (file, port, cookie) = (next(), next(), next());
    let address = format!("127.0.0.1:{port}");
    let users = [(cookie, "student1".to_owned())];
    let router = bare::router(file.into(), &format!("http://{address}"), users);
    let listener = TcpListener::bind(address).await.expect("a free port");
    axum::serve(listener, router).await.expect("it serves");
}
