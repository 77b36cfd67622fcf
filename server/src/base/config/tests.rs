//! Tests of the configuration: values that are accepted, refused and hidden.

use super::*;

impl Config {
    /// The configuration with these settings, and the defaults of the others.
    pub(crate) fn with(settings: &[(&str, &str)]) -> Self {
        let argument = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let given = ConfigSources {
            arguments: settings.iter().map(argument).collect(),
            ..ConfigSources::default()
        };
        load(&given).config.unwrap()
    }
}

fn given(file: &str, environment: &[(&str, &str)], arguments: &[(&str, &str)]) -> ConfigSources {
    ConfigSources {
        file: Some(("lectern.toml".to_owned(), file.to_owned())),
        environment: environment
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        arguments: arguments
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
    }
}

fn from_file(file: &str) -> Result<Config, Problems> {
    load(&given(file, &[], &[])).config
}

/// The keys that the problems name.
fn blamed(file: &str) -> Vec<String> {
    let problems = from_file(file).expect_err("the file should be refused");
    problems.0.into_iter().map(|it| it.key).collect()
}

#[test]
fn without_settings_the_defaults_hold() {
    let config = from_file("").unwrap();
    assert_eq!(config.session.cookie_name, "JSESSIONID");
    assert_eq!(config.session.cookie_suffix(), "svc");
    assert_eq!(config.session.timeout, Duration::from_mins(30));
    assert_eq!(config.server_url(), "http://127.0.0.1:8080");
    assert_eq!(config.limits.form_body, ByteSize(65_536));
    assert_eq!(config.limits.connections_per_address, 256);
    assert!(config.session.cookie_http_only && config.describe_public && !config.auth.basic);
}

#[test]
fn arguments_win_over_the_environment_and_that_over_the_file() {
    let loaded = load(&given(
        "session.timeout = 60\nsession.perUser = 1\ncookie.samesite = \"strict\"",
        &[
            ("LECTERN_SESSION_TIMEOUT", "70"),
            ("LECTERN_SESSION_PERUSER", "2"),
        ],
        &[("session.timeout", "80")],
    ));
    let config = loaded.config.unwrap();
    assert_eq!(config.session.timeout, Duration::from_secs(80));
    assert_eq!(config.session.per_user, 2);
    assert_eq!(config.session.cookie_same_site, SameSite::Strict);
    let source = |key| {
        let setting = loaded.effective.iter().find(|it| it.0 == key);
        setting.unwrap().2
    };
    assert_eq!(source("session.timeout"), Source::Argument);
    assert_eq!(source("session.perUser"), Source::Environment);
    assert_eq!(source("cookie.samesite"), Source::File);
    assert_eq!(source("listen"), Source::Default);
}

#[test]
fn tables_dotted_keys_and_quoted_keys_are_the_same() {
    for file in [
        "[svc]\ncookieName = \"SID\"",
        "svc.cookieName = \"SID\"",
        "\"svc.cookieName\" = \"SID\"",
    ] {
        assert_eq!(from_file(file).unwrap().session.cookie_name, "SID");
    }
}

#[test]
fn lists_are_lists_or_texts_with_commas() {
    let listed = from_file("proxy.trusted = [\"10.0.0.0/8\", \"::1\"]").unwrap();
    let joined = from_file("proxy.trusted = \"10.0.0.0/8, ::1\"").unwrap();
    assert_eq!(listed.proxy.trusted, joined.proxy.trusted);
    assert!(listed.proxy.trusts("::1".parse().unwrap()));
    assert!(!listed.proxy.trusts("11.0.0.1".parse().unwrap()));
}

#[test]
fn conf_5_an_unknown_key_is_refused_by_its_full_name() {
    assert_eq!(blamed("[session]\ntimeuot = 5"), ["session.timeuot"]);
    assert_eq!(blamed("svc.cookiename = \"a\""), ["svc.cookiename"]);
    let problems = load(&given("", &[("LECTERN_COOKIE_SECUR", "never")], &[]));
    assert_eq!(
        problems.config.unwrap_err().0[0].key,
        "LECTERN_COOKIE_SECUR"
    );
    let problems = load(&given("", &[], &[("nonsense", "1")]));
    assert_eq!(problems.config.unwrap_err().0[0].key, "nonsense");
}

/// Returns the message of the first problem.
fn advice(given: &ConfigSources) -> String {
    let problems = load(given).config.unwrap_err();
    problems.0.first().unwrap().to_string()
}

#[test]
fn a_misspelt_name_is_told_with_the_nearest_one() {
    for (file, meant) in [
        ("[session]\ntimeuot = 5", "`session.timeout`"),
        ("svc.cokiename = \"a\"", "`svc.cookieName`"),
        ("lissten = \"127.0.0.1:1\"", "`listen`"),
        ("databse = \"x\"", "`database`"),
        ("[limits]\nheader_fields = 5", "`limits.headerFields`"),
    ] {
        let told = advice(&given(file, &[], &[]));
        assert!(
            told.ends_with(&format!("perhaps you mean {meant}")),
            "{told}"
        );
    }
    for (variable, meant) in [
        ("LECTERN_COOKIE_SECUR", "`LECTERN_COOKIE_SECURE`"),
        ("LECTERN_LISTENN", "`LECTERN_LISTEN`"),
        ("LECTERN_PASWORD", "`LECTERN_PASSWORD`"),
        ("LECTERN_SESSIONTIMEOUT", "`LECTERN_SESSION_TIMEOUT`"),
    ] {
        let told = advice(&given("", &[(variable, "hunter2")], &[]));
        assert!(
            told.ends_with(&format!("perhaps you mean {meant}")),
            "{told}"
        );
        assert!(!told.contains("hunter2"), "{told}");
    }
}

#[test]
fn a_name_like_no_other_is_told_with_where_all_are() {
    for given in [
        given("wombat = 1", &[], &[]),
        given("ext.wombat.size = 1", &[], &[]),
        given("\"\" = 1", &[], &[]),
    ] {
        let told = advice(&given);
        assert!(told.contains("`lectern doctor --all`"), "{told}");
    }
    let told = advice(&given("", &[("LECTERN_QQ", "1")], &[]));
    assert!(
        told.contains("remove it") && !told.contains("perhaps"),
        "{told}"
    );
}

#[test]
fn variables_of_others_do_not_matter() {
    let variables = [
        ("PATH", "/bin"),
        ("LECTERN_PASSWORD", "x"),
        ("LECTERN_CONFIG", "y"),
    ];
    assert!(load(&given("", &variables, &[])).config.is_ok());
}

#[test]
fn all_wrong_values_are_told_at_once_by_key() {
    let file = "listen = \"here\"\nsession.timeout = \"soon\"\ncookie.secure = \"maybe\"\nlimits.headerFields = 0";
    assert_eq!(
        blamed(file),
        [
            "listen",
            "session.timeout",
            "cookie.secure",
            "limits.headerFields"
        ]
    );
}

#[test]
fn x52_a_limit_below_what_browsers_send_is_refused() {
    for (limit, is_fine) in [
        ("limits.headerFields = 1", false),
        ("limits.headerFields = 31", false),
        ("limits.headerFields = 32", true),
        ("limits.headerBytes = \"1KiB\"", false),
        ("limits.headerBytes = \"4KiB\"", true),
        ("limits.uriBytes = 100", false),
    ] {
        let key = limit.split(' ').next().unwrap();
        match is_fine {
            true => assert!(load(&given(limit, &[], &[])).config.is_ok(), "{limit}"),
            false => assert_eq!(blamed(limit), [key], "{limit}"),
        }
    }
}

#[test]
fn sess_4_a_suffix_or_name_that_breaks_the_cookie_is_refused() {
    assert_eq!(blamed("svc.serverId = \"a.b\""), ["svc.serverId"]);
    assert_eq!(
        blamed(&format!("svc.serverId = \"{}\"", "a".repeat(33))),
        ["svc.serverId"]
    );
    assert_eq!(blamed("svc.cookieName = \"a;b\""), ["svc.cookieName"]);
    assert_eq!(blamed("svc.cookieName = \"\""), ["svc.cookieName"]);
    assert_eq!(
        blamed("svc.cookieDomain = \"a; Path=/x\""),
        ["svc.cookieDomain"]
    );
    assert_eq!(
        from_file("svc.serverId = \"node_1-a\"")
            .unwrap()
            .session
            .cookie_suffix(),
        "node_1-a"
    );
}

#[test]
fn cookie_attributes_that_browsers_refuse_are_refused() {
    let host = "svc.cookieName = \"__Host-s\"\n";
    assert_eq!(blamed(host), ["svc.cookieName"]);
    assert_eq!(blamed("cookie.samesite = \"none\""), ["cookie.samesite"]);
    let secure = format!("{host}cookie.secure = \"always\"");
    assert!(from_file(&secure).is_ok());
    assert_eq!(
        blamed(&format!("{secure}\nsvc.cookieDomain = \"a.example\"")),
        ["svc.cookieDomain"]
    );
    assert!(from_file("cookie.samesite = \"none\"\nsvc.serverUrl = \"https://a.example\"").is_ok());
}

#[test]
fn log_2_the_database_password_is_never_shown() {
    let url = "postgres://lectern:hunter2@db.example/lectern?password=hunter2";
    let loaded = load(&given("", &[("LECTERN_DATABASE", url)], &[]));
    let shown = format!("{loaded:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("postgres://[secret]@db.example/lectern"));
    assert_eq!(loaded.config.unwrap().database.expose(), url);
    let problems = load(&given(
        "",
        &[("LECTERN_DATABASE", "pg://u:hunter2@h/d")],
        &[],
    ));
    assert!(
        !format!("{problems:?}").contains("pg://u:hunter2"),
        "{problems:?}"
    );
    let broken = load(&given("database = \"hunter2", &[], &[]))
        .config
        .unwrap_err();
    assert!(!broken.to_string().contains("hunter2"), "{broken}");
    assert!(broken.to_string().contains("line 1"), "{broken}");
}

#[test]
fn every_variable_is_the_key_in_upper_case() {
    for setting in SETTINGS.iter() {
        let expected = format!("LECTERN_{}", setting.key.replace('.', "_").to_uppercase());
        assert_eq!(setting.variable, expected);
        assert!(!OTHER_VARIABLES.contains(&setting.variable));
    }
}

#[test]
fn durations_and_sizes_have_units() {
    assert_eq!(Duration::parse("12h"), Ok(Duration::from_hours(12)));
    assert_eq!(Duration::parse("100ms"), Ok(Duration::from_millis(100)));
    assert_eq!(ByteSize::parse("2 MiB"), Ok(ByteSize(2 * 1024 * 1024)));
    assert_eq!(ByteSize::parse("1GiB"), Ok(ByteSize(1024 * 1024 * 1024)));
    assert_eq!(ByteLimit::parse("0"), Ok(ByteLimit(0)));
    assert_eq!(ByteLimit::parse("4KiB"), Ok(ByteLimit(4096)));
    assert!(ByteLimit::parse("-1").is_err());
    for text in [
        "",
        "s",
        "-1",
        "1.5",
        "1 day",
        "99999999999999999999",
        "9999999h",
    ] {
        assert!(Duration::parse(text).is_err(), "{text}");
    }
    for text in ["", "KiB", "0", "-1", "1GB", "99999999999999999999MiB"] {
        assert!(ByteSize::parse(text).is_err(), "{text}");
    }
}

#[test]
fn an_answer_fits_into_the_memory_of_answers() {
    let blame = |of: &str, all: &str| {
        blamed(&format!(
            "[limits]\nanswerBytes = \"{of}\"\nanswerMemory = \"{all}\""
        ))
    };
    assert_eq!(blame("8MiB", "1MiB"), ["limits.answerBytes"]);
    assert!(from_file("[limits]\nanswerBytes = \"8MiB\"\nanswerMemory = \"8MiB\"").is_ok());
}

#[test]
fn hosts_and_levels_that_mean_nothing_are_refused() {
    for level in ["%%", "inof", "info,sqlx=wran"] {
        assert_eq!(
            blamed(&format!("log.level = \"{level}\"")),
            ["log.level"],
            "{level}"
        );
    }
    for level in ["debug", "WARN", "info,sqlx=warn", "server[login]=trace,off"] {
        assert!(
            from_file(&format!("log.level = \"{level}\"")).is_ok(),
            "{level}"
        );
    }
    for host in ["a b", "https://a", "a:80", "[::x]", "::1"] {
        assert_eq!(
            blamed(&format!("hosts = [\"ok\", \"{host}\"]")),
            ["hosts"],
            "{host}"
        );
    }
    for host in ["lectern.example", "a_b-c", "192.0.2.1", "[::1]"] {
        assert!(
            from_file(&format!("hosts = [\"{host}\"]")).is_ok(),
            "{host}"
        );
    }
}

#[test]
fn a_public_address_is_an_origin() {
    assert_eq!(
        from_file("svc.serverUrl = \"https://Lectern.example/\"")
            .unwrap()
            .server_url(),
        "https://lectern.example"
    );
    for url in [
        "lectern.example",
        "ftp://a",
        "https://a/b",
        "https://u@a",
        "https://",
    ] {
        assert_eq!(
            blamed(&format!("svc.serverUrl = \"{url}\"")),
            ["svc.serverUrl"],
            "{url}"
        );
    }
}

#[test]
fn a_host_may_be_named_to_listen_on_and_a_path_may_name_the_database() {
    let config = load(&given("", &[], &[("listen", "localhost:8081")]))
        .config
        .unwrap();
    assert!(config.listen.ip().is_loopback() && config.listen.port() == 8081);
    for (text, url) in [
        ("/var/lib/lectern.db", "sqlite:///var/lib/lectern.db"),
        ("./a b?c%.db", "sqlite://./a%20b%3Fc%25.db"),
        ("sqlite://lectern.db", "sqlite://lectern.db"),
    ] {
        let loaded = load(&given("", &[], &[("database", text)]));
        assert_eq!(loaded.config.unwrap().database.expose(), url);
    }
    for (key, text) in [
        ("listen", "localhost"),
        ("listen", "no such host:80"),
        ("database", "lectern.db"),
        ("database", "/var/lib/"),
        ("database", "mysql://h/d"),
    ] {
        let loaded = load(&given("", &[], &[(key, text)]));
        assert!(loaded.config.is_err(), "{key}={text}");
    }
}

#[test]
fn variables_of_orchestrators_are_warned_of() {
    let loaded = load(&given("", &[("LECTERN_PORT", "tcp://10.0.0.7:80")], &[]));
    assert!(loaded.config.is_ok());
    assert_eq!(loaded.warnings.len(), 1, "{:?}", loaded.warnings);
    assert!(
        load(&given("", &[("LECTERN_PORT", "80")], &[]))
            .config
            .is_err()
    );
}

entity_core::register_setting! {
    /// The maximum number of days that a loan takes.
    static DAYS: u32 = "loans.days", "14";
}

entity_core::register_setting! {
    /// The token for the catalogue.
    static TOKEN: String = "catalogueToken", "";
}

#[test]
fn settings_of_linked_crates_are_read_like_our_own() {
    let variable = ("LECTERN_EXT_SERVER_LOANS_DAYS", "3");
    for (file, environment, expected) in [
        ("", &[][..], 14),
        ("ext.server.loans.days = 7", &[], 7),
        ("[ext.server]\nloans = { days = 7 }", &[variable], 3),
    ] {
        let config = load(&given(file, environment, &[])).config.unwrap();
        assert_eq!(config.extensions.get(&DAYS).unwrap(), expected, "{file}");
    }
    for (file, key, message) in [
        (
            "ext.server.loans.days = \"many\"",
            "ext.server.loans.days",
            "invalid digit",
        ),
        (
            "ext.server.loans.weeks = 1",
            "ext.server.loans.weeks",
            "is not a setting of a linked crate",
        ),
        (
            "ext.server.loans.DAYS = 1",
            "ext.server.loans.DAYS",
            "write `ext.server.loans.days`",
        ),
    ] {
        let Problems(problems) = from_file(file).expect_err(file);
        let [problem] = problems.as_slice() else {
            panic!("{problems:?}");
        };
        assert_eq!(problem.key, key);
        assert!(problem.to_string().contains(message), "{problem}");
    }
}

#[test]
fn a_secret_of_a_linked_crate_is_not_shown() {
    let loaded = load(&given("ext.server.catalogueToken = \"hush\"", &[], &[]));
    let shown = loaded.effective.iter().find(|it| it.0 == TOKEN.key());
    assert_eq!(shown.map(|it| it.1.as_str()), Some("(not shown)"));
    assert!(!format!("{:?}", loaded.config).contains("hush"));
}
