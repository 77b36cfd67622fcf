//! Measures the service beside a yardstick: `cargo run --release -p tests --bin bench [rounds] [seconds]`.

use std::time::Duration;

use tests::bench::{self, Plan};

fn main() {
    let mut numbers = std::env::args()
        .skip(1)
        .filter_map(|it| it.parse::<u32>().ok());
    let rounds = numbers.next().unwrap_or(5);
    let seconds = numbers.next().unwrap_or(3);
    bench::run(Plan {
        rounds,
        duration: Duration::from_secs(u64::from(seconds)),
    });
}
