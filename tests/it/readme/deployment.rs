//! The files that operators copy from the manual. The service itself loads the settings. The others are checked for the
//! commands, settings, ports and limits that they name; by their own programs, too, where these are installed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use server::base::config::{Config, ConfigSources, Loaded, Source, load};
use server::operate::production::inspect_outside;
use tests::process::service;

use super::{OPERATING, block_in, blocks_in, read};

/// The keys of a unit for systemd that the manual uses.
const OF_UNITS: [&str; 23] = [
    "[Unit]",
    "Description",
    "Wants",
    "After",
    "[Service]",
    "User",
    "Group",
    "UMask",
    "StateDirectory",
    "StateDirectoryMode",
    "WorkingDirectory",
    "ExecStart",
    "Restart",
    "RestartSec",
    "RestartPreventExitStatus",
    "TimeoutStopSec",
    "LimitNOFILE",
    "NoNewPrivileges",
    "PrivateTmp",
    "ProtectHome",
    "ProtectSystem",
    "[Install]",
    "WantedBy",
];

/// The same for a server of nginx.
const OF_NGINX: [&str; 13] = [
    "server",
    "listen",
    "server_name",
    "ssl_certificate",
    "ssl_certificate_key",
    "client_max_body_size",
    "proxy_request_buffering",
    "location",
    "proxy_pass",
    "proxy_http_version",
    "proxy_set_header",
    "return",
    "}",
];

fn given_file(text: &str) -> ConfigSources {
    ConfigSources {
        file: Some(("lectern.toml".to_owned(), text.to_owned())),
        ..ConfigSources::default()
    }
}

fn accepted(given: &ConfigSources) -> (Config, Loaded) {
    let loaded = load(given);
    match &loaded.config {
        Ok(config) => (config.clone(), loaded),
        Err(problems) => panic!("{problems}"),
    }
}

/// The settings that a service has if nobody sets any.
fn defaults() -> Config {
    accepted(&ConfigSources::default()).0
}

/// The settings file of the manual.
fn file() -> Config {
    accepted(&given_file(&block_in(OPERATING, "toml"))).0
}

fn assert_fit_for_production(config: &Config) {
    let findings = inspect_outside(config, None).expect("an address of a database");
    assert!(
        findings.refused.is_empty() && findings.warned.is_empty(),
        "{findings:?}"
    );
}

/// The lines of a file, without comments, and without the spaces at both ends.
fn lines(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|it| !it.is_empty() && !it.starts_with('#'))
        .collect()
}

/// The values behind `key` and a sign in the lines of a file.
fn values<'a>(lines: &[&'a str], key: &str, sign: char) -> Vec<&'a str> {
    let found = lines.iter().filter_map(|it| it.split_once(sign));
    let found = found.filter(|it| it.0 == key);
    found
        .map(|it| it.1.trim_start().trim_end_matches(';'))
        .collect()
}

fn value<'a>(lines: &[&'a str], key: &str, sign: char) -> &'a str {
    let [value] = *values(lines, key, sign) else {
        panic!("`{key}` once: {lines:?}");
    };
    value
}

/// Runs a program that checks a file: whether it accepts it, and its complaints. `None` where it is not installed.
fn checked(program: &str, arguments: &[&str]) -> Option<(bool, String)> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Some((output.status.success(), said))
}

/// The first words of the lines, which must be known: a misspelt one says nothing.
fn assert_known(lines: &[&str], sign: char, known: &[&str]) {
    for line in lines {
        let word = line.split([sign, ';']).next().unwrap_or_default();
        assert!(known.contains(&word), "{line}");
    }
}

#[test]
fn the_settings_file_has_six_keys_and_is_fit_for_production() {
    let (config, loaded) = accepted(&given_file(&block_in(OPERATING, "toml")));
    let set = loaded.effective.iter().filter(|it| it.2 == Source::File);
    assert_eq!(set.count(), 6);
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    assert_fit_for_production(&config);
}

#[test]
fn the_unit_starts_the_program_and_lets_it_stop() {
    let unit = block_in(OPERATING, "ini");
    let lines = lines(&unit);
    assert_known(&lines, '=', &OF_UNITS);
    let command = value(&lines, "ExecStart", '=');
    assert_eq!(
        command,
        "/usr/local/bin/lectern serve --config /etc/lectern/lectern.toml"
    );
    assert!(read(OPERATING).contains("-m 640 lectern.toml /etc/lectern/lectern.toml"));

    let (defaults, config) = (defaults(), file());
    let stop = value(&lines, "TimeoutStopSec", '=')
        .parse()
        .map(Duration::from_secs);
    assert!(stop.expect("seconds") >= defaults.shutdown.hard_stop + Duration::from_secs(5));
    let files: usize = value(&lines, "LimitNOFILE", '=').parse().expect("a number");
    assert!(files > defaults.limits.connections + 1000, "{files}");
    let folder = format!("/var/lib/{}", value(&lines, "StateDirectory", '='));
    assert_eq!(value(&lines, "WorkingDirectory", '='), folder);
    let database = format!("sqlite://{folder}/");
    assert!(config.database.expose().starts_with(&database));
    assert_eq!(value(&lines, "Restart", '='), "on-failure");
    let usage = Command::new(service(false))
        .arg("--no-such-option")
        .output();
    let usage = usage.expect("the program runs").status.code();
    let kept_down = value(&lines, "RestartPreventExitStatus", '=').parse().ok();
    assert_eq!(kept_down, usage);

    // The unit's own program looks whether the service's is there.
    let folder = tempfile::tempdir().expect("a folder for temporary files can be made");
    let path = folder.path().join("lectern.service");
    let here = unit.replace(
        "/usr/local/bin/lectern",
        &service(false).display().to_string(),
    );
    fs::write(&path, here).expect("room for a file");
    let path = path.display().to_string();
    if let Some((_, said)) = checked("systemd-analyze", &["verify", &path]) {
        assert!(!said.contains("lectern.service"), "{said}");
    }
}

#[test]
fn the_container_file_builds_and_starts_the_program() {
    const KNOWN: [&str; 10] = [
        "FROM",
        "WORKDIR",
        "COPY",
        "RUN",
        "USER",
        "VOLUME",
        "ENV",
        "EXPOSE",
        "ENTRYPOINT",
        "CMD",
    ];
    let file = block_in(OPERATING, "dockerfile");
    let lines = lines(&file);
    assert_known(&lines, ' ', &KNOWN);
    let manifest: toml::Table = read("Cargo.toml").parse().expect("TOML");
    let rust = manifest["workspace"]["package"]["rust-version"].as_str();
    let rust = format!("rust:{}-", rust.expect("a version"));
    let [build, image] = *values(&lines, "FROM", ' ') else {
        panic!("an image that builds and one that runs");
    };
    let debian = build
        .strip_prefix(&rust)
        .and_then(|it| it.strip_suffix(" AS build"));
    // The program is linked with the libraries of the image that runs it.
    assert_eq!(
        image.strip_prefix("debian:"),
        debian.map(|it| format!("{it}-slim")).as_deref()
    );
    let copied = values(&lines, "COPY", ' ');
    assert!(copied.contains(&"--from=build /source/target/release/lectern /usr/local/bin/lectern"));
    assert_eq!(value(&lines, "ENTRYPOINT", ' '), r#"["lectern"]"#);
    assert_eq!(value(&lines, "CMD", ' '), r#"["serve"]"#);

    let own = values(&lines, "ENV", ' ').into_iter();
    let blocks = blocks_in(OPERATING, "console").join("\n");
    let run = blocks.lines().find(|it| it.starts_with("docker run "));
    let words = run
        .expect("a command that starts it")
        .split(' ')
        .collect::<Vec<_>>();
    let of_run = words.windows(2).filter(|it| it[0] == "-e").map(|it| it[1]);
    let variables = own.chain(of_run).filter_map(|it| it.split_once('='));
    let variables = variables.collect::<BTreeMap<_, _>>();
    assert_eq!(variables.len(), 6);
    let given = ConfigSources {
        environment: variables
            .iter()
            .map(|it| (it.0.into(), it.1.into()))
            .collect(),
        ..ConfigSources::default()
    };
    let (config, _) = accepted(&given);
    assert_fit_for_production(&config);
    assert_eq!(
        value(&lines, "EXPOSE", ' '),
        config.listen.port().to_string()
    );
    let volume = value(&lines, "VOLUME", ' ');
    assert!(
        config
            .database
            .expose()
            .starts_with(&format!("sqlite://{volume}/"))
    );
    assert!(words.contains(&&*format!("lectern:{volume}")));
    let port = config.listen.port();
    assert!(words.contains(&&*format!("127.0.0.1:{port}:{port}")));
}

#[test]
fn the_proxy_passes_on_what_the_service_reads() {
    let text = block_in(OPERATING, "nginx");
    let lines = lines(&text);
    assert_known(&lines, ' ', &OF_NGINX);
    let (defaults, config) = (defaults(), file());
    assert_eq!(
        value(&lines, "proxy_pass", ' '),
        format!("http://{}", defaults.listen)
    );
    assert!(
        config.proxy.trusts(defaults.listen.ip()),
        "the proxy is on the same machine"
    );
    let size = value(&lines, "client_max_body_size", ' ').strip_suffix('m');
    let size: usize = size.and_then(|it| it.parse().ok()).expect("a size");
    assert_eq!(size << 20, defaults.files.size.0);
    let names = values(&lines, "server_name", ' ');
    assert!(
        names
            .iter()
            .all(|it| config.hosts.contains(&(*it).to_owned())),
        "{names:?}"
    );
    assert_eq!(config.server_url(), format!("https://{}", config.hosts[0]));
    let headers = values(&lines, "proxy_set_header", ' ');
    // What the service reads with the default of `proxy.header`.
    for expected in [
        "Host $host",
        "X-Forwarded-For $remote_addr",
        "X-Forwarded-Proto $scheme",
        "X-Forwarded-Host $host",
    ] {
        assert!(headers.contains(&expected), "{expected}: {headers:?}");
    }
    assert_eq!(value(&lines, "proxy_http_version", ' '), "1.1");
    assert_eq!(text.matches('{').count(), text.matches('}').count());
    for line in &lines {
        assert!(line.ends_with([';', '{', '}']), "{line}");
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files can be made");
    check_by_nginx(&text, folder.path());
}

/// Lets nginx look at the file, where it is installed: without certificates, which nobody has here.
fn check_by_nginx(text: &str, folder: &Path) {
    let here = text.lines().filter(|it| !it.contains("ssl_certificate"));
    let here = here.map(|it| it.replace("443 ssl http2", "127.0.0.1:18443"));
    let here = here.map(|it| it.replace("listen 80;", "listen 127.0.0.1:18080;"));
    let here = here.collect::<Vec<_>>().join("\n");
    let own = folder.display();
    let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|it| format!("{it}_temp_path {own}/{it};"))
        .join("\n");
    let whole = format!(
        "pid {own}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{paths}\n{here}\n}}\n"
    );
    let path = folder.join("nginx.conf");
    fs::write(&path, whole).expect("room for a file");
    let path = path.display().to_string();
    let folder = own.to_string();
    if let Some((is_accepted, said)) = checked("nginx", &["-t", "-p", &folder, "-c", &path]) {
        assert!(is_accepted, "{said}");
    }
}
