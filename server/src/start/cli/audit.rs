//! `lectern audit`: prints rows of the audit log, while the service may go on.

use entity_core::context::Clock as _;
use entity_core::db::{Db, Row, Sql};
use entity_core::sheet::CsvTable;
use sea_orm::ConnectionTrait as _;

use super::arguments::Audit;
use super::open::look;
use super::output::{self, Failure, Listener};
use crate::base::config::Config;
use crate::base::system::SystemClock;
use crate::guard::audit::{AuditEntry, AuditFilter, AuditReader};

/// The columns of a table, in order.
const HEAD: [&str; 10] = [
    "time",
    "requestId",
    "userId",
    "userEid",
    "session",
    "address",
    "method",
    "path",
    "status",
    "times",
];

/// Prints the rows that `wanted` asks for.
pub(super) async fn run(config: &Config, wanted: Audit) -> Result<(), Failure> {
    let look = look(config).await?;
    let now = SystemClock::default().now();
    let (since, until) = (wanted.since, wanted.until);
    let (since, until) = (
        since.map(|it| it.before(now)),
        until.map(|it| it.before(now)),
    );
    if let (Some(since), Some(until)) = (since, until)
        && since >= until
    {
        return Err("`--since` must be before `--until`: exchange them".into());
    }
    let account = match &wanted.user {
        Some(name) => Some(account(&look.content, name).await?),
        None => None,
    };
    let filter = AuditFilter {
        user: account.as_ref().map(|it| it.id.clone()),
        since,
        until,
        path: wanted.path,
        method: wanted.method,
        status: wanted.status,
    };
    let most = usize::try_from(wanted.limit)?;
    let beside = look.audit_of_reads.as_ref().map(|it| &it.reader);
    let mut reader = AuditReader::new(&look.content.reader, beside, filter, most).await?;
    let mut listener = Listener::default();
    if wanted.csv {
        listener.hear(&head()?)?;
    }
    let mut has_rows = false;
    loop {
        let page = reader.next().await?;
        if page.is_empty() || listener.has_gone() {
            break;
        }
        has_rows = true;
        let text = match wanted.csv {
            true => table(&page)?,
            false => lines(&page)?,
        };
        listener.hear(&text)?;
    }
    match account.filter(|it| !it.is_known && !has_rows) {
        Some(stranger) => Err(format!(
            "there is no account `{}`, nor a row of one with this id: `lectern user list` names the accounts",
            stranger.id
        )
        .into()),
        None => Ok(()),
    }
}

/// The account whose rows are wanted.
struct Account {
    id: String,
    /// True if there is such an account. Rows of an account that is gone are still there.
    is_known: bool,
}

/// The account whose external id is `name`, or whose internal id it is or was.
async fn account(content: &Db, name: &str) -> Result<Account, Failure> {
    let mut sql = Sql::new(
        content.reader.get_database_backend(),
        "SELECT id FROM user_account WHERE lower(eid) = ",
    );
    sql.bind(name.to_ascii_lowercase())
        .push(" OR id = ")
        .bind(name);
    // Who is called like somebody else's id comes first.
    sql.push(" ORDER BY CASE WHEN id = ")
        .bind(name)
        .push(" THEN 1 ELSE 0 END");
    let found = content.reader.query_one_raw(sql.into_statement()).await?;
    Ok(match &found {
        Some(row) => Account {
            id: Row::of(row).take()?,
            is_known: true,
        },
        None => Account {
            id: name.to_owned(),
            is_known: false,
        },
    })
}

fn lines(page: &[AuditEntry]) -> Result<String, Failure> {
    let lines: Result<Vec<String>, Failure> = page.iter().map(output::json).collect();
    Ok(lines?.concat())
}

fn head() -> Result<String, Failure> {
    let mut sheet = CsvTable::new(usize::MAX);
    sheet.row(HEAD)?;
    output::sheet(sheet)
}

fn table(page: &[AuditEntry]) -> Result<String, Failure> {
    let mut sheet = CsvTable::new(usize::MAX);
    for row in page {
        let or_nothing = |it: &Option<String>| it.clone().unwrap_or_default();
        sheet.row([
            row.time.clone(),
            row.request_id.clone(),
            or_nothing(&row.user_id),
            or_nothing(&row.user_eid),
            or_nothing(&row.session),
            row.address.clone(),
            row.method.clone(),
            row.path.clone(),
            row.status.to_string(),
            row.times.to_string(),
        ])?;
    }
    output::sheet(sheet)
}

/// Reads a status, or a class of them: the first and the last that is meant.
pub(super) fn statuses(text: &str) -> Result<(u16, u16), String> {
    let class = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX"));
    let found = match class {
        Some(class) => class
            .parse::<u16>()
            .ok()
            .filter(|it| (1..=5).contains(it))
            .map(|it| (it * 100, it * 100 + 99)),
        None => text
            .parse::<u16>()
            .ok()
            .filter(|it| (100..=599).contains(it))
            .map(|it| (it, it)),
    };
    found.ok_or_else(|| "write a status such as 403, or a class of them such as 4xx".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_or_a_class_of_them_is_read() {
        assert_eq!(statuses("403"), Ok((403, 403)));
        assert_eq!(statuses("4xx"), Ok((400, 499)));
        assert_eq!(statuses("5XX"), Ok((500, 599)));
        for text in [
            "", "xx", "6xx", "44xx", "0xx", "99", "600", "4x", "x", "-1", "65536xx",
        ] {
            assert!(statuses(text).is_err(), "{text}");
        }
    }
}
