//! Another program's opinion: Python's `dateutil` expands random rules in random zones as we do.

use std::process::Command;

use chrono::DateTime;
use serde::Deserialize;

use super::{Series, canonical, zone};

/// Prints random rules, each with what it means: the first instant, one to begin from, and those that follow.
const SCRIPT: &str = r#"
import datetime, json, random, sys, zoneinfo
from dateutil.rrule import rrulestr
random.seed(20261121)
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo", "Pacific/Apia"]
DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
def some(of, most): return ",".join(str(it) for it in sorted(random.sample(of, random.randint(1, most))))
def rule():
    freq = random.choice(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"])
    parts = ["FREQ=" + freq]
    if random.random() < .5: parts.append("INTERVAL=%d" % random.randint(1, 6))
    kind = random.random()
    if kind < .35: parts.append("BYDAY=" + some(DAYS, 3))
    elif kind < .5 and freq == "MONTHLY": parts.append("BYDAY=%d%s" % (random.choice([1, 2, 3, -1, -2]), random.choice(DAYS)))
    elif kind < .65 and freq in ("MONTHLY", "YEARLY"): parts.append("BYMONTHDAY=" + some(list(range(1, 29)) + [-1, -5], 3))
    elif kind < .75 and freq == "YEARLY": parts.append("BYYEARDAY=" + some([1, 60, 100, 200, 300, 365, -1], 3))
    elif kind < .85 and freq == "YEARLY": parts.append("BYWEEKNO=%s;BYDAY=MO" % some([1, 10, 20, 30, 52], 3))
    if random.random() < .2: parts.append("BYMONTH=" + some(list(range(1, 13)), 6))
    if freq == "MONTHLY" and "BYDAY" in parts[-1] and random.random() < .5: parts.append("BYSETPOS=%s" % random.choice([1, 2, -1]))
    if freq == "WEEKLY" and random.random() < .3: parts.append("WKST=" + random.choice(DAYS))
    return ";".join(parts)
def millis(local, zone):
    return int(local.replace(tzinfo=zoneinfo.ZoneInfo(zone)).timestamp()) * 1000
made = 0
while made < int(sys.argv[1]):
    text, zone = rule(), random.choice(ZONES)
    begin = datetime.datetime(random.randint(2008, 2026), random.randint(1, 12), random.randint(1, 28), random.randint(0, 23), random.choice([0, 15, 30]))
    first = next(iter(rrulestr(text, dtstart=begin)), None)
    if first is None: continue
    rules = rrulestr(text, dtstart=first)
    if next(iter(rules)) != first: continue
    after = first + datetime.timedelta(days=random.choice([0, 3, 400, 4000]))
    found = []
    for it in rules.xafter(after, count=15, inc=True):
        found.append(millis(it, zone))
    second = list(rules.xafter(first, count=1))
    if len(found) < 15 or not second or (second[0] - first).days > 2000: continue
    made += 1
    print(json.dumps({"rule": text, "zone": zone, "first": millis(first, zone), "after": millis(after, zone), "found": found}))
"#;

/// The number of rules that are compared.
const RULES: &str = "400";

#[derive(Deserialize)]
struct Case {
    rule: String,
    zone: String,
    first: i64,
    after: i64,
    found: Vec<i64>,
}

#[test]
fn python_expands_the_same_rules_to_the_same_instants() {
    let output = Command::new("python3").args(["-c", SCRIPT, RULES]).output();
    let Some(output) = output.ok().filter(|it| it.status.success()) else {
        eprintln!("there is no Python with dateutil: skipped what it expands");
        return;
    };
    let instant = |millis| DateTime::from_timestamp_millis(millis).unwrap();
    let mut compared = 0;
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let zone = zone(&case.zone).unwrap();
        let series = Series::parse(&canonical(&case.rule, zone), instant(case.first), zone);
        let series = series.unwrap_or_else(|it| panic!("{it}: {line}"));
        let starts = series.starts(instant(case.after)).take(case.found.len());
        let starts: Vec<_> = starts.map(|it| it.timestamp_millis()).collect();
        assert_eq!(starts, case.found, "{line}");
        compared += 1;
    }
    assert_eq!(compared.to_string(), RULES);
}
