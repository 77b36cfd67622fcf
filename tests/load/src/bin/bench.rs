//! Measures the service beside a yardstick: `cargo run --release -p load --bin bench [rounds] [seconds]`.
//!
//! `bench attacks [seconds] [name]` lets attackers loose on it, each for so long or only the one of this name, while
//! others use it; `bench soak [minutes]` does so for a long time and watches what grows.
//!
//! `bench overload [seconds] [sqlite] [postgres] [list] [search] [write] [login] [pages]` sends ten times as much as it
//! can do, each for so long.
//!
//! `bench course [sqlite|postgres]` reads the lists and the gradebook of a course with 2,000 students and 600,000
//! submissions.
//!
//! `SERVICE_PROGRAM` may be the path of another build of the service: all but the first measure that.

use std::process::exit;
use std::time::Duration;

use load::bench::{self, Plan, course, overload};
use load::trial;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u32| {
        let given = arguments.get(at).and_then(|it| it.parse().ok());
        given.unwrap_or(default)
    };
    let seconds = |number: u32| Duration::from_secs(number.into());
    let is_good = match arguments.first().map(String::as_str) {
        Some("attacks") => {
            let name = arguments.get(2).map(String::as_str);
            trial::attacks(seconds(number(1, 30)), name.unwrap_or_default())
        }
        Some("soak") => trial::soak(seconds(60 * number(1, 15))),
        Some("overload") => {
            let words = arguments.iter().skip(1).cloned();
            let only = words.filter(|it| it.parse::<u32>().is_err()).collect();
            overload::run(&overload::Plan {
                duration: seconds(number(1, 10)),
                only,
            });
            true
        }
        Some("course") => {
            course::run(arguments.get(1).map(String::as_str));
            true
        }
        _ => {
            bench::run(Plan {
                rounds: number(0, 5),
                duration: seconds(number(1, 3)),
            });
            true
        }
    };
    exit(i32::from(!is_good));
}
