//! The dispatcher of the service, put together of its parts.

use std::sync::Arc;

use entity_core::blob::Blobs;
use entity_core::context::{Services, Shared};
use entity_core::db::attached::AttachedFileService;
use entity_core::db::blobs::AccountBytes;
use entity_core::db::{Quota, Quotas};
use entity_core::engine::{Dispatcher, PresenceTracker, WriteLimit, WriteQueue};
use entity_core::{Result, Start};
use entity_providers::base::limits::Limits;
use entity_providers::courses::content::Attached;
use entity_providers::face::server_config::ServerFacts;
use entity_providers::face::webhook::WebhookService;
use entity_providers::people::authorizer::RoleAuthorizer;
use entity_providers::people::user::{PasswordService, TryService};
use sea_orm::DbBackend;
use tokio::sync::watch;

use super::build::Parts;
use crate::base::config::{Config, QuotaSettings, Source};
use crate::base::system::TokioTimer;
use crate::guard::admission::{Admission, WriteTurns};
use crate::guard::auth::password::Passwords;
use crate::guard::auth::tries::AttemptLimiter;
use crate::guard::sanitizer::HtmlSanitizer;
use crate::guard::session::Sessions;
use crate::operate::journal::Outbox;
use crate::operate::storage::Storage;
use crate::operate::webhooks;
use crate::pages::administration::{AdministrationFacts, Setting};
use crate::pages::feed;

/// Makes the dispatcher of the service, with the values that providers share.
pub(super) async fn dispatcher(
    (config, parts): (&Config, Parts),
    (storage, blobs, news): (&Storage, Blobs, &watch::Sender<()>),
    authorizer: &Arc<RoleAuthorizer>,
    sessions: &Arc<Sessions>,
    (passwords, admission): (&Passwords, &Arc<Admission>),
) -> Result<Dispatcher> {
    let registry = Arc::new(parts.registry);
    let mut services = Services::default();
    services.insert(Arc::clone(authorizer));
    services.insert(Arc::clone(sessions));
    services.insert(Arc::new(PasswordService(Arc::new(passwords.clone()))));
    services.insert(Arc::new(limits(&config.quota)));
    services.insert(Arc::new(ServerFacts {
        server_id: config.session.cookie_suffix().to_owned(),
    }));
    services.insert(Arc::new(administration(config, storage)));
    services.insert(Arc::new(quotas(&config.quota, storage)));
    services.insert(Arc::new(TryService(Arc::new(AttemptLimiter::default()))));
    services.insert(Arc::new(blobs));
    services.insert(Arc::new(AttachedFileService(Arc::new(Attached))));
    services.insert(Arc::new(AccountBytes(count(
        config.quota.account_file_bytes.0,
    ))));
    services.insert(Arc::new(WebhookService(Arc::new(webhooks::Rules {
        allows_private: config.webhooks_private,
    }))));
    services.insert(Arc::new(PresenceTracker::default()));
    services.insert(Arc::clone(&registry));
    services.insert(Arc::new(config.retention.clone()));
    services.insert(parts.formats);
    let settings = Arc::new(config.extensions.clone());
    let start = Start::new(Arc::clone(&registry), settings, services);
    let services = start.run().await?;
    let shared = Shared {
        clock: parts.clock,
        ids: parts.ids,
        authorizer: authorizer.clone(),
        services,
        base_url: config.server_url().into(),
        answer_bytes: config.limits.answer_bytes.0,
        sanitizer: Arc::new(HtmlSanitizer::new(Arc::clone(admission))),
    };
    let journal = Outbox {
        audit: storage.audit_of_writes.clone(),
        authorizer: Arc::clone(authorizer),
        sessions: Arc::clone(sessions),
        ends_feeds: |cx, events| Box::pin(feed::follow(cx, events)),
        news: news.clone(),
    };
    let dispatcher = Dispatcher::new(
        registry,
        Arc::new(storage.content.clone()),
        Arc::new(journal),
        shared,
    );
    let limit = WriteLimit {
        length: config.pool.write_hold,
        timer: Arc::new(TokioTimer),
    };
    Ok(dispatcher
        .with_write_limit(Some(limit))
        .with_write_queue(turns(storage, admission)))
}

/// Makes the write queue of a SQLite file, which has one writer at a time. PostgreSQL needs none.
fn turns(storage: &Storage, admission: &Arc<Admission>) -> Option<Arc<dyn WriteQueue>> {
    let is_file = storage.content.writer.get_database_backend() == DbBackend::Sqlite;
    let turns = || -> Arc<dyn WriteQueue> { Arc::new(WriteTurns(Arc::clone(admission))) };
    is_file.then(turns)
}

fn administration(config: &Config, storage: &Storage) -> AdministrationFacts {
    let is_file = storage.content.writer.get_database_backend() == DbBackend::Sqlite;
    let setting = |(name, value, source): &(&str, String, Source)| Setting {
        id: (*name).to_owned(),
        name: (*name).to_owned(),
        value: value.clone(),
        source: source.to_string(),
    };
    AdministrationFacts {
        settings: config.effective.iter().map(setting).collect(),
        content: storage.content.reader.clone(),
        // On SQLite reads are noted in a file of their own.
        reads: is_file.then(|| storage.audit_of_reads.db().clone()),
    }
}

fn quotas(quota: &QuotaSettings, storage: &Storage) -> Quotas {
    let account = Quota {
        entities: quota.account_entities.into(),
        bytes: count(quota.account_bytes.0),
    };
    let site = Quota {
        entities: quota.site_entities.into(),
        bytes: count(quota.site_bytes.0),
    };
    Quotas::new(account, site, storage.content.reader.clone())
}

fn count(it: usize) -> u64 {
    u64::try_from(it).unwrap_or(u64::MAX)
}

fn limits(quota: &QuotaSettings) -> Limits {
    Limits {
        sites_per_account: count(quota.sites_per_account),
        invitations_per_site: count(quota.invitations_per_site),
        invitations_per_account: count(quota.invitations_per_account),
        file_bytes_per_site: count(quota.site_file_bytes.0),
    }
}
