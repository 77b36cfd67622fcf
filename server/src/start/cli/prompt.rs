//! A password from the input: typed by a person, unseen and twice, or one line from another program.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::thread;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::ctrl_c;
use tokio::sync::oneshot;

use super::output::Failure;

/// The longest line that is read, in bytes.
const LONGEST: u64 = 4096;

/// Asks for a password at a terminal; takes the first line of anything else.
pub(super) async fn password() -> Result<String, Failure> {
    if !io::stdin().is_terminal() {
        return line().await;
    }
    let _silence = Silence::begin()?;
    let first = ask("Password: ").await?;
    let second = ask("The same again: ").await?;
    match first == second {
        true => Ok(first),
        false => Err("the two passwords differ: nothing was changed, try again".into()),
    }
}

async fn ask(question: &str) -> Result<String, Failure> {
    let mut terminal = io::stderr();
    write!(terminal, "{question}")?;
    terminal.flush()?;
    line().await
}

/// Reads the next line of the input. An interrupt restores the terminal.
async fn line() -> Result<String, Failure> {
    let (sender, read) = oneshot::channel();
    // No task of the runtime, which would wait for the line even after an interrupt.
    thread::spawn(move || sender.send(read_line()));
    tokio::select! {
        line = read => match line?? {
            line if line.is_empty() => Err("no password was given".into()),
            line => Ok(line),
        },
        interrupted = ctrl_c() => {
            interrupted?;
            Err("interrupted: nothing was changed".into())
        }
    }
}

fn read_line() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().lock().take(LONGEST).read_line(&mut text)?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// A terminal without echo, until this is dropped.
struct Silence {
    before: Termios,
}

impl Silence {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        silent.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(io::stdin(), OptionalActions::Flush, &silent)?;
        Ok(Self { before })
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        // A terminal that has gone needs nothing back.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
