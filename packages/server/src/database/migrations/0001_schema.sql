-- The whole schema, module by module. Its reasons: docs/decisions/0002-schema.md.
--
-- Rules of every table:
--   * A table that belongs to an account starts each primary, unique and foreign key with `part, account_id`.
--     `part` is the last byte of the account's id; it could spread accounts over several databases.
--     Reference tables are small and read everywhere; they have keys of their own.
--   * The application generates all ids. They are UUIDv7, so they sort by creation time.
--   * The application uses the role `dragoman_app`. A table without an UPDATE or DELETE grant is append-only.
--   * A job, message, delivery or edited job is its own queue entry. `due_at` is when a worker may claim it, null if no
--     worker needs to. `attempts` counts claims. `lease_token` is the claim of the current worker.
--   * Columns `environment` separate a customer's production data from their sandbox.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

grant usage on schema public to dragoman_app;
grant select on migrations to dragoman_app;


-- ==== access: accounts, API keys, people =============================================================================

-- A customer.
create table accounts (
  account_id          uuid primary key,
  part                smallint not null check (part between 0 and 255),
  username            text collate "C" not null unique check (username ~ '^[A-Za-z0-9._@+-]{1,64}$'),
  email               text,
  created_at          timestamptz not null default now(),
  status              text not null default 'active' check (status in ('active', 'suspended')),
  resumed_at          timestamptz,                     -- end of the last suspension
  default_brand       text collate "C",                -- used by requests that name no brand
  -- Chat subscription.
  chat                boolean not null default false,
  chat_pairs          text[],                          -- such as `en-es`; null: every offered pair
  chat_from           timestamptz,                     -- inclusive; null: no start
  chat_until          timestamptz,                     -- exclusive; null: no end
  chat_correction     boolean not null default false,  -- editors correct messages after their delivery
  -- Requests a second that each key may send; 0: no limit; null: the setting.
  key_requests        integer check (key_requests between 0 and 100000),
  -- The origins whose pages may call the API from a browser, such as `https://app.example.com`.
  allowed_origins     text[] not null default '{}' check (cardinality(allowed_origins) <= 20),
  -- Retention in days; null keeps the data forever.
  keep_attempts_days  integer check (keep_attempts_days between 1 and 36500),
  keep_events_days    integer check (keep_events_days between 1 and 36500),
  keep_texts_days     integer check (keep_texts_days between 1 and 36500),
  texts_forgotten_to  uuid,                            -- messages up to this id have lost their texts
  -- From the request on, nobody can sign in or use the API; workers delete the data and then set `erased_at`.
  erase_requested_at  timestamptz,
  erased_at           timestamptz,
  unique (part, account_id),
  constraint accounts_chat_period check (chat_until > chat_from)
);
-- Every queue leaves out the accounts in this index, which is almost always empty.
create index accounts_suspended on accounts (account_id) where status = 'suspended';
-- A preflight request has no key. It is answered for origins that any account allows.
create index accounts_of_origin on accounts using gin (allowed_origins);
create index accounts_to_erase on accounts (erase_requested_at)
  where erase_requested_at is not null and erased_at is null;
grant select, insert, update on accounts to dragoman_app;

-- People who sign in. A customer's user belongs to an account. Editors and operators work for all accounts.
create table users (
  user_id       uuid primary key,
  email         text collate "C" not null unique
                check (email = lower(email) and email ~ '^[^\s@]+@[^\s@]+$' and char_length(email) <= 254),
  name          text not null check (char_length(name) between 1 and 100),
  role          text not null check (role in ('customer', 'editor', 'operator')),
  part          smallint,
  account_id    uuid,
  owner         boolean not null default false, -- may decide on retention, export and erasure of the account
  password_hash text,                           -- null until the invitation is accepted with a password
  issuer        text collate "C" check (char_length(issuer) <= 2000), -- the OpenID Connect provider of the user, if any
  subject       text collate "C" check (char_length(subject) <= 255), -- the provider's id of the user
  locale        text check (locale ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'), -- null: what the browser asks for
  theme         text not null default 'system' check (theme in ('system', 'light', 'dark')),
  review_share  smallint not null default 100 check (review_share between 0 and 100), -- percent of an editor's tasks
  disabled_at   timestamptz,
  created_at    timestamptz not null default now(),
  foreign key (part, account_id) references accounts (part, account_id),
  check ((part is null) = (account_id is null)),
  check ((role = 'customer') = (account_id is not null)),
  check (not owner or account_id is not null),
  check ((issuer is null) = (subject is null))
);
create unique index users_by_subject on users (issuer, subject) where subject is not null;
create index users_of_account on users (part, account_id) where account_id is not null;
grant select, insert, update, delete on users to dragoman_app;

-- Language pairs of an editor, and whether they may also review the pair.
create table user_languages (
  user_id         uuid not null references users (user_id) on delete cascade,
  source_language text collate "C" not null,
  target_language text collate "C" not null,
  review          boolean not null default false,
  primary key (user_id, source_language, target_language),
  check (source_language <> target_language)
);
create index user_languages_by_pair on user_languages (source_language, target_language);
grant select, insert, update, delete on user_languages to dragoman_app;

-- Browser sessions of signed-in users.
create table sessions (
  session_id   uuid primary key,
  user_id      uuid not null references users (user_id) on delete cascade,
  token_hash   bytea not null unique check (octet_length(token_hash) = 32),
  user_agent   text not null check (char_length(user_agent) <= 100), -- name of the browser and the operating system
  created_at   timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  ends_at      timestamptz not null, -- even if the session is in use
  by_provider  boolean not null default false -- started by the provider, which has checked any second factor
);
create index sessions_of_user on sessions (user_id);
create index sessions_by_end on sessions (ends_at);
grant select, insert, update, delete on sessions to dragoman_app;

-- Single-use links with which a user chooses a password, the first or a new one.
create table invitations (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  user_id    uuid references users (user_id) on delete cascade, -- null: the link creates the first operator
  purpose    text not null check (purpose in ('invitation', 'reset', 'operator')),
  invited_by uuid references users (user_id) on delete set null, -- null: by a command; the user: a forgotten password
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at    timestamptz,
  check ((user_id is null) = (purpose = 'operator'))
);
create index invitations_of_user on invitations (user_id);
create unique index invitations_for_operator on invitations (purpose) where purpose = 'operator' and used_at is null;
grant select, insert, update, delete on invitations to dragoman_app;

-- Failed sign-in attempts, counted by address, and by address and account. `mark` is a hash of these.
create table sign_ins (
  mark         bytea primary key check (octet_length(mark) = 32),
  attempts     integer not null check (attempts >= 0),
  last_at      timestamptz not null default now(),
  closed_until timestamptz not null default now() -- attempts before this time are refused unread
);
create index sign_ins_by_age on sign_ins (last_at);
grant select, insert, update, delete on sign_ins to dragoman_app;

-- Second factors of users: the secret of time-based codes (RFC 6238), encrypted with the secret key.
create table second_factors (
  user_id      uuid primary key references users (user_id) on delete cascade,
  sealed       bytea not null,
  created_at   timestamptz not null default now(),
  confirmed_at timestamptz, -- null until the user has entered a code; until then it is not asked for
  last_step    bigint,      -- time step of the last accepted code; older codes and this one are refused
  check (confirmed_at is null or last_step is not null)
);
grant select, insert, update, delete on second_factors to dragoman_app;

-- Codes that replace the second factor when the device is lost. `mark` is a keyed hash of user and code.
create table recovery_codes (
  mark    bytea primary key check (octet_length(mark) = 32),
  user_id uuid not null references second_factors (user_id) on delete cascade,
  used_at timestamptz
);
create index recovery_codes_of_user on recovery_codes (user_id);
grant select, insert, update, delete on recovery_codes to dragoman_app;

-- API keys. `dialect` chooses between the two forms of answers (`spec` and `legacy`).
create table keys (
  key_id       text collate "C" primary key,
  part         smallint not null,
  account_id   uuid not null,
  environment  text not null check (environment in ('production', 'sandbox')),
  name         text not null,
  secret_hash  bytea not null,
  dialect      text not null default 'spec' check (dialect in ('spec', 'legacy')),
  read_only    boolean not null default false,
  scopes       text[] -- null: every scope, also those that later versions add
               check (scopes <@ array['jobs', 'chat', 'deliveries', 'account'] and cardinality(scopes) > 0),
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz, -- to the hour
  made_by      uuid references users (user_id) on delete set null, -- null: by a command or the program
  created_at   timestamptz not null default now(),
  foreign key (part, account_id) references accounts (part, account_id)
);
create index keys_of_account on keys (part, account_id);
create index keys_of_maker on keys (made_by) where made_by is not null;
grant select, insert, update, delete on keys to dragoman_app;

-- URLs that receive the events of an account, in addition to the callback URLs of its requests.
create table webhook_endpoints (
  part        smallint not null,
  account_id  uuid not null,
  endpoint_id uuid not null,
  environment text not null check (environment in ('production', 'sandbox')),
  url         text not null,
  host        text collate "C" not null,
  events      text[] -- null: every type, also those that later versions add
              check (events <@ array['job.completed', 'job.failed', 'job.canceled', 'job.asked', 'message.translated',
                'message.failed', 'message.corrected'] and cardinality(events) > 0),
  description text not null,
  key_id      text collate "C", -- the API key that set the URL, which may be revoked by now; null: a user set it
  status      text not null default 'active' check (status in ('active', 'disabled', 'failed')),
  active_since timestamptz not null default now(), -- with this URL; earlier failures do not count
  created_at  timestamptz not null default now(),
  primary key (part, account_id, endpoint_id),
  foreign key (part, account_id) references accounts (part, account_id)
);
grant select, insert, update, delete on webhook_endpoints to dragoman_app;

-- Secrets that sign callbacks, encrypted with the secret key. Several are valid while one replaces another.
create table webhook_secrets (
  part        smallint not null,
  account_id  uuid not null,
  secret_id   uuid not null,
  environment text not null check (environment in ('production', 'sandbox')),
  endpoint_id uuid, -- null: signs the callbacks to the URLs of requests
  sealed      bytea not null,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz,
  primary key (part, account_id, secret_id),
  foreign key (part, account_id) references accounts (part, account_id),
  foreign key (part, account_id, endpoint_id) references webhook_endpoints (part, account_id, endpoint_id)
    on delete cascade
);
grant select, insert, update, delete on webhook_secrets to dragoman_app;

-- One row: an HMAC of the secret key that this database was first used with. All processes need the same key; a process
-- with another key notices it when it starts (access/secret-key.ts). The HMAC does not reveal the key.
create table secret_key_mark (
  one  boolean primary key default true check (one),
  mark bytea not null check (octet_length(mark) = 32)
);
grant select, insert, update on secret_key_mark to dragoman_app;

-- The timelines of the WAL that processes have seen on the primary. A standby that has the row of the current timeline
-- follows the current primary, so reads may use it (database/standby.ts).
create table timelines (
  cluster  bigint not null,
  timeline text not null check (length(timeline) = 8),
  primary key (cluster, timeline)
);
grant select, insert on timelines to dragoman_app;


-- ==== audit ==========================================================================================================

-- Who changed what: keys, secrets, users, money and everything else that a user or a command changes. Never a
-- customer's text. Append-only; forget_account (at the end) is the one exception.
create table audit (
  audit_id   uuid primary key,
  at         timestamptz not null default now(),
  actor      text not null check (actor in ('person', 'key', 'command', 'program')),
  user_id    uuid references users (user_id) on delete set null,
  -- The person's e-mail at that time, the id of the API key, or who ran the command.
  name       text not null check (char_length(name) <= 254),
  action     text collate "C" not null check (action ~ '^[a-z_]+\.[a-z_]+$'),
  part       smallint, -- null, with account_id: the entry is about no account
  account_id uuid,
  subject    text not null check (char_length(subject) <= 300),
  detail     jsonb not null,
  check ((part is null) = (account_id is null)),
  check (actor = 'person' or user_id is null)
);
create index audit_of_account on audit (part, account_id, audit_id);
create index audit_of_action on audit (action, audit_id);
grant select, insert on audit to dragoman_app;


-- ==== languages: pairs ===============================================================================================

-- Language pairs that passed an engine's self-test. Workers write them; the API reads them.
create table pairs (
  source_language text collate "C" not null,
  target_language text collate "C" not null,
  engine          text not null,
  route           text not null,
  hops            smallint not null,
  engine_version  text not null, -- version of the engine and its data that was tested
  checked_at      timestamptz not null, -- last test
  seen_at         timestamptz not null default now(), -- last report of a worker; without reports the pair is withdrawn
  primary key (source_language, target_language, engine)
);
grant select, insert, update, delete on pairs to dragoman_app;

-- Pairs that an operator has disabled. A separate table, because workers rewrite `pairs`.
create table disabled_pairs (
  source_language text collate "C" not null,
  target_language text collate "C" not null,
  disabled_at     timestamptz not null default now(),
  primary key (source_language, target_language)
);
grant select, insert, update, delete on disabled_pairs to dragoman_app;


-- ==== brands =========================================================================================================

-- The style of a customer. Requests name a brand by `external_id`, so this is its key; it never changes.
create table brands (
  part        smallint not null,
  account_id  uuid not null,
  external_id text collate "C" not null check (char_length(external_id) between 1 and 128),
  name        text not null check (char_length(name) between 1 and 200),
  -- What a human job delivers when no editor has finished by the deadline: `wait` delivers nothing until one has.
  fallback    text not null default 'wait' check (fallback in ('wait', 'machine')),
  -- What the votes of editors do to waiting segments with the same reading: nothing, a draft, or also a confirmation.
  votes       text not null default 'draft' check (votes in ('off', 'draft', 'confirm')),
  version     integer not null default 1 check (version > 0), -- counts publications
  created_at  timestamptz not null default now(),
  changed_at  timestamptz not null default now(),
  primary key (part, account_id, external_id),
  foreign key (part, account_id) references accounts (part, account_id)
);
grant select, insert, update, delete on brands to dragoman_app;

alter table accounts add foreign key (part, account_id, default_brand)
  references brands (part, account_id, external_id) on delete set null (default_brand);

-- The tone and instructions of a brand in one target language.
create table brand_languages (
  part         smallint not null,
  account_id   uuid not null,
  external_id  text collate "C" not null,
  language     text collate "C" not null check (language ~ '^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$'),
  tone         text check (tone in ('Informal', 'Formal')),
  instructions text check (char_length(instructions) between 1 and 10000),
  primary key (part, account_id, external_id, language),
  foreign key (part, account_id, external_id) references brands (part, account_id, external_id) on delete cascade
);
grant select, insert, update, delete on brand_languages to dragoman_app;

-- The glossary of a brand and target language.
create table terms (
  part             smallint not null,
  account_id       uuid not null,
  external_id      text collate "C" not null,
  language         text collate "C" not null,
  position         integer not null check (position >= 0), -- the operator's order
  source           text not null check (char_length(source) between 1 and 500),
  target           text not null check (char_length(target) <= 500),
  case_sensitive   boolean not null,
  forbidden        boolean not null, -- `target` must not be used
  do_not_translate boolean not null,
  note             text check (char_length(note) between 1 and 2000),
  primary key (part, account_id, external_id, language, position),
  foreign key (part, account_id, external_id, language)
    references brand_languages (part, account_id, external_id, language) on delete cascade,
  -- A term has a target, preferred or forbidden, or is not translated.
  check (case when do_not_translate then target = '' and not forbidden else target <> '' end)
);
grant select, insert, update, delete on terms to dragoman_app;

-- An edited brand that is not yet published; translations do not use it.
create table brand_drafts (
  part        smallint not null,
  account_id  uuid not null,
  external_id text collate "C" not null check (char_length(external_id) between 1 and 128),
  revision    integer not null default 1 check (revision > 0),
  based_on    integer check (based_on > 0), -- published version that the draft started from; null: a new brand
  brand       jsonb not null, -- in the form of a brand's file
  changed_at  timestamptz not null default now(),
  changed_by  text not null,
  primary key (part, account_id, external_id),
  foreign key (part, account_id) references accounts (part, account_id)
);
grant select, insert, update, delete on brand_drafts to dragoman_app;

-- Terms that editors propose for the glossary of a brand. A proposal applies to its job until the customer declines it.
-- A taken one is in the draft of the brand.
create table term_proposals (
  part        smallint not null,
  account_id  uuid not null,
  proposal_id uuid not null,
  external_id text collate "C" not null, -- the brand
  language    text collate "C" not null,
  job_id      uuid not null,
  user_id     uuid not null, -- the editor
  source      text not null check (char_length(source) between 1 and 500),
  target      text not null check (char_length(target) between 1 and 500),
  note        text check (char_length(note) between 1 and 2000),
  status      text not null default 'proposed' check (status in ('proposed', 'taken', 'declined')),
  proposed_at timestamptz not null default now(),
  decided_at  timestamptz,
  primary key (part, account_id, proposal_id),
  foreign key (part, account_id, external_id) references brands (part, account_id, external_id) on delete cascade,
  check ((status = 'proposed') = (decided_at is null))
);
create unique index term_proposals_waiting on term_proposals (part, account_id, external_id, language, source, target)
  where status = 'proposed';
create index term_proposals_of_job on term_proposals (part, account_id, job_id);
grant select, insert, update (status, decided_at), delete on term_proposals to dragoman_app;


-- ==== translation: engines ===========================================================================================

-- Engine routes: the engines of a pair, in order of preference. Workers read them all. A null account or brand stands
-- for all.
create table engine_routes (
  source_language text collate "C" not null,
  target_language text collate "C" not null,
  tier            text not null check (tier in ('*', 'human', 'machine', 'chat')),
  account_id      uuid references accounts,
  brand           text,
  engines         text[] not null check (cardinality(engines) > 0),
  check (brand is null or account_id is not null),
  unique nulls not distinct (source_language, target_language, tier, account_id, brand)
);
grant select, insert, update, delete on engine_routes to dragoman_app;

-- An engine as one worker sees it, for the console. Rows of a worker that has stopped reporting are stale.
create table engine_states (
  worker_id   uuid not null,
  engine      text collate "C" not null,
  state       text not null check (state in ('closed', 'half-open', 'open')), -- of the circuit breaker
  state_since timestamptz not null,
  waiting     integer not null check (waiting >= 0), -- queued requests
  version     text,
  errors      jsonb not null, -- latest failures: time, and a reason from a closed list
  seen_at     timestamptz not null default now(),
  primary key (worker_id, engine)
);
grant select, insert, update, delete on engine_states to dragoman_app;

-- Requests of one worker to an engine in one minute.
create table engine_minutes (
  engine       text collate "C" not null,
  minute       timestamptz not null,
  worker_id    uuid not null,
  answered     integer not null check (answered >= 0),
  failed       integer not null check (failed >= 0),
  milliseconds bigint not null check (milliseconds >= 0), -- of all requests together
  slowest      integer not null check (slowest >= 0),     -- milliseconds of the slowest request
  -- An engine may answer a request and fail to translate some of its segments.
  segments     integer not null check (segments >= 0),
  failed_segments integer not null check (failed_segments >= 0),
  primary key (engine, minute, worker_id)
);
grant select, insert, update, delete on engine_minutes to dragoman_app;

-- A sentence that an operator sends to an engine to test it. A worker that has the engine claims and answers it.
create table engine_tests (
  test_id         uuid primary key,
  engine          text collate "C" not null,
  source_language text not null,
  target_language text not null,
  body            text not null check (char_length(body) between 1 and 2000),
  created_at      timestamptz not null default now(),
  claimed_at      timestamptz,
  answer          jsonb
);
grant select, insert, update, delete on engine_tests to dragoman_app;

-- What one engine has to do for an operator's comparison of engines. A worker that has the engine leases the row,
-- translates the lines and writes the result. The rows of a comparison are deleted when the operator leaves its page,
-- or some minutes later.
create table engine_comparisons (
  comparison_id   uuid not null,
  engine          text collate "C" not null,
  source_language text not null,
  target_language text not null,
  lines           jsonb not null,
  created_at      timestamptz not null default now(),
  lease_token     uuid,
  leased_until    timestamptz,
  translated      integer not null default 0 check (translated >= 0),
  segments        integer not null default 0 check (segments >= 0),
  result          jsonb,
  primary key (comparison_id, engine)
);
grant select, insert, update, delete on engine_comparisons to dragoman_app;


-- ==== jobs ===========================================================================================================

-- A translation job. Tier `chat` is the correction of a chat message by people; customers do not see it as a job.
create table jobs (
  part            smallint not null,
  account_id      uuid not null, -- no foreign key: accounts are never deleted, and each insert would lock the account
  job_id          uuid not null,
  order_number    bigint generated by default as identity, -- counts within an account and environment: job_numbers
  environment     text not null check (environment in ('production', 'sandbox')),
  tier            text not null check (tier in ('human', 'machine', 'chat')),
  uid             text collate "C" not null, -- the customer's id of the job
  request_hash    bytea not null, -- of the creating body: distinguishes a retry from a conflict
  dialect         text not null check (dialect in ('spec', 'legacy')),
  status          text not null check (status in ('new', 'machine_translate_in_progress', 'translating',
                    'completed', 'failed', 'canceled', 'accepted', 'rejected')),
  source_language text not null,
  target_language text not null,
  text_format     text not null check (text_format in ('text', 'html', 'srt', 'xliff')),
  tone            text,
  topics          text[],
  brand           text,
  default_brand   text, -- the account's default at creation, if the request named no brand
  callback_url    text,
  words           integer not null check (words >= 0),
  characters      integer not null check (characters >= 0),
  price_cents     bigint not null check (price_cents >= 0),
  cents_per_word  bigint not null check (cents_per_word >= 0), -- of a word without a discount
  discounts       jsonb, -- the matched words with their share of the price; null: every word has the full price
  charge          smallint not null default 1 check (charge > 0), -- number of the current charge; an upgrade adds one
  created_at      timestamptz not null default now(),
  hold_until      timestamptz, -- a finished result is neither shown nor delivered before this time
  finished_at     timestamptz,
  mail_to         uuid, -- the user who gets a mail when the job is finished; null after the mail
  mail_at         timestamptz, -- the next attempt to send the mail; null before the first
  failure         text,
  fell_back       boolean not null default false, -- delivered by the machine at the deadline, without a charge
  -- At the last delivery of the edited job, also by the fallback: the words that they confirmed (`opened`) and that came from votes (`voted`).
  edited_words    jsonb,
  -- Upgrade of a machine job to a human job.
  upgrade_hash    bytea, -- of the upgrading request: distinguishes a retry from a conflict
  before_upgrade  jsonb, -- charge, price, properties and instructions, to restore when the upgrade is canceled
  -- Engine that an operator asked to redraft the job with; '' is the current route, null no request.
  redraft         text collate "C" check (char_length(redraft) <= 40),
  due_at          timestamptz,
  attempts        integer not null default 0,
  lease_token     uuid,
  primary key (part, account_id, job_id),
  unique (part, account_id, environment, uid),
  check (lease_token is null or due_at is not null)
) with (fillfactor = 85);
create index jobs_due on jobs (part, account_id, due_at) where due_at is not null;
create index jobs_listed on jobs (part, account_id, environment, tier, job_id);
-- Most jobs are finished, and the index above finds them quickly. The columns before the id are those of `job_counts`.
create index jobs_by_status on jobs (part, account_id, environment, tier, status, source_language, target_language, job_id)
  where status not in ('completed', 'accepted');
-- Searches for the middle or the end of a uid. A GIN index has one list of rows for each value of each column, and
-- a search reads the list of every column. The list of `account_id` makes that of `part` needless.
-- docs/decisions/0007-lists.md compares the indexes.
create index jobs_uid_trigrams on jobs using gin (account_id, uid gin_trgm_ops);
-- Numbers of several accounts are interleaved, hence minmax_multi.
create index jobs_order_number on jobs using brin (order_number int8_minmax_multi_ops)
  with (pages_per_range = 16, autosummarize = on);
-- Finished human jobs that the customer has neither accepted nor rejected, oldest first.
create index jobs_unjudged on jobs (finished_at) where status = 'completed' and tier = 'human';
create index jobs_to_mail on jobs (mail_to, finished_at) where mail_to is not null;
grant select, insert, update on jobs to dragoman_app;

-- The long texts of a job, apart from its often updated row. `supplied` is a translation that came with the request,
-- `name` the name of the document's file.
create table job_texts (
  part       smallint not null,
  account_id uuid not null,
  job_id     uuid not null,
  kind       text not null check (kind in ('source', 'supplied', 'instructions', 'result', 'name')),
  body       text not null,
  primary key (part, account_id, job_id, kind),
  foreign key (part, account_id, job_id) references jobs (part, account_id, job_id)
);
grant select, insert, update, delete on job_texts to dragoman_app;

-- Segments of a job and their machine drafts. What editors write is in `edits`.
create table segments (
  part       smallint not null,
  account_id uuid not null,
  job_id     uuid not null,
  position   integer not null,
  segment_id text not null, -- the unit in the document and the place in the unit
  source     jsonb not null,
  draft      jsonb,         -- null: the machine failed; `failure` has the reason
  route      text,
  notes      text[] not null default '{}',
  failure    text,
  -- The mean and the lowest probability that the engine gave the words of its draft; null: it reported none.
  confidence       real,
  least_confidence real,
  repeats    integer,       -- the first segment with the same source, if there is an earlier one
  -- A similar memory entry next to the engine's draft: `target`, `score`, the route `than` of that draft, and `better`:
  -- editors see it as the draft (memory/efforts.ts). Never delivered without an editor, so it is not in `draft`.
  similar_entry jsonb,
  joined_to  integer,       -- the earlier segment whose source and target include this one
  -- In that earlier segment: the last position, the codes, the target after the join, and its own columns before.
  joined     jsonb,
  cuts       jsonb,         -- where an editor has split it: places in `source` and in the target of its edit
  divided_at integer not null default 0, -- older revisions of its edit are targets of another source
  primary key (part, account_id, job_id, position),
  foreign key (part, account_id, job_id) references jobs (part, account_id, job_id),
  check ((draft is null) = (failure is not null)),
  check (route !~ '^memory:[0-9]')
);
-- Confirming one segment fills those that repeat it.
create index segments_repeated on segments (part, account_id, job_id, repeats) where repeats is not null;
create index segments_joined on segments (part, account_id, job_id, position) where joined_to is not null;
grant select, insert, update, delete on segments to dragoman_app;

-- Each change of a job's status. Append-only but for `detail`, which may quote a text and ends with the job's texts.
create table job_events (
  part        smallint not null,
  account_id  uuid not null,
  event_id    uuid not null,
  job_id      uuid not null,
  from_status text not null,
  to_status   text not null,
  actor       text not null,
  detail      text,
  created_at  timestamptz not null default now(),
  primary key (part, account_id, event_id),
  foreign key (part, account_id, job_id) references jobs (part, account_id, job_id)
);
grant select, insert, update (detail) on job_events to dragoman_app;

-- Exact numbers of jobs for lists, by each filter of a list. Each transaction that creates or changes jobs adds a row
-- with the difference: with one updated row per account, they would wait for each other's commits. A timer of the
-- worker folds the rows of an account into one.
create table job_counts (
  part            smallint not null,
  account_id      uuid not null,
  count_id        bigint generated always as identity,
  environment     text not null check (environment in ('production', 'sandbox')),
  tier            text not null check (tier in ('human', 'machine', 'chat')),
  status          text not null check (status in ('new', 'machine_translate_in_progress', 'translating',
                    'completed', 'failed', 'canceled', 'accepted', 'rejected')),
  source_language text not null,
  target_language text not null,
  jobs            bigint not null,
  folded          boolean not null default false,
  primary key (part, account_id, count_id)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index job_counts_unfolded on job_counts (part, account_id) where not folded;
grant select, insert, delete on job_counts to dragoman_app;

-- The caller's `Idempotency-Key` of a create without a uid: the same key and body return the same jobs.
create table idempotency (
  part         smallint not null,
  account_id   uuid not null,
  environment  text not null check (environment in ('production', 'sandbox')),
  key          text collate "C" not null check (length(key) between 1 and 255),
  request_hash bytea not null,
  job_ids      uuid[] not null, -- one, or those of a bulk create in its order
  created_at   timestamptz not null default now(),
  primary key (part, account_id, environment, key)
);
create index idempotency_age on idempotency (created_at);
grant select, insert, update, delete on idempotency to dragoman_app;

-- Last order number and job id of an account and environment. Both are taken just before the insert, in a transaction
-- of their own with an asynchronous commit (jobs/order-numbers.ts), so that no insert waits for another's commit.
create table job_numbers (
  part              smallint not null,
  account_id        uuid not null,
  environment       text not null check (environment in ('production', 'sandbox')),
  last_number       bigint not null check (last_number > 0),
  last_milliseconds bigint not null, -- of the newest job id: the first 48 bits of a UUIDv7
  primary key (part, account_id, environment)
) with (fillfactor = 50);
grant select, insert, update, delete on job_numbers to dragoman_app;

-- Creations that have taken their numbers and may not be committed yet. One row for all jobs of a transaction, which
-- deletes it. A reader that follows a list stops before the oldest of them that may concern its account.
create table creations (
  creation_id       uuid not null,
  part              smallint not null, -- of one of the accounts; a distributed database has a row for each part
  accounts          uuid[] not null,
  from_milliseconds bigint not null, -- its job ids start with this time or a later one
  begun_at          timestamptz not null default now(),
  primary key (creation_id, part)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
grant select, insert, update, delete on creations to dragoman_app;


-- ==== ledger: money ==================================================================================================

-- The current balance, kept with the transfers in one transaction. A debit that exceeds the credit limit fails.
create table balances (
  part               smallint not null,
  account_id         uuid not null,
  environment        text not null check (environment in ('production', 'sandbox')),
  available_cents    bigint not null default 0,
  credit_limit_cents bigint check (credit_limit_cents >= 0), -- null: no limit
  primary key (part, account_id, environment),
  foreign key (part, account_id) references accounts (part, account_id),
  constraint balances_credit_limit check (available_cents >= -credit_limit_cents)
) with (fillfactor = 50); -- updated by every job: room for updates in place
grant select, insert, update on balances to dragoman_app;

-- Double-entry bookkeeping: a row debits one ledger account and credits another, so all rows balance. Append-only.
create table transfers (
  part         smallint not null,
  account_id   uuid not null,
  transfer_id  uuid not null,
  environment  text not null check (environment in ('production', 'sandbox')),
  job_id       uuid,
  charge       smallint not null default 1 check (charge > 0), -- of the job: an upgraded job is charged again
  kind         text not null,
  debit        text not null,
  credit       text not null,
  amount_cents bigint not null check (amount_cents > 0),
  memo         text,
  created_at   timestamptz not null default now(),
  primary key (part, account_id, transfer_id),
  foreign key (part, account_id, job_id) references jobs (part, account_id, job_id),
  constraint transfers_kind check ((kind, debit, credit) in (
    ('top_up',     'funding',   'available'),
    ('adjustment', 'funding',   'available'),
    ('adjustment', 'available', 'funding'),
    ('hold',       'available', 'held'),
    ('capture',    'held',      'revenue'),
    ('void',       'held',      'available'),
    ('refund',     'revenue',   'available'))),
  constraint transfers_job check ((kind in ('top_up', 'adjustment')) = (job_id is null))
);
-- A charge has at most one hold, one end and one refund.
create unique index transfers_hold on transfers (part, account_id, job_id, charge) where kind = 'hold';
create unique index transfers_end on transfers (part, account_id, job_id, charge) where kind in ('capture', 'void');
create unique index transfers_refund on transfers (part, account_id, job_id, charge) where kind = 'refund';
grant select, insert on transfers to dragoman_app;

-- Prices that an operator has set. A reference table, though some rows name an account.
create table prices (
  price_id        uuid primary key,
  tier            text not null check (tier in ('human', 'machine')),
  part            smallint, -- null, with account_id: for every account
  account_id      uuid,
  source_language text collate "C", -- null, with target_language: for every pair
  target_language text collate "C",
  cents_per_word  integer not null check (cents_per_word between 0 and 100000),
  valid_from      timestamptz not null,
  valid_until     timestamptz check (valid_until > valid_from),
  foreign key (part, account_id) references accounts (part, account_id),
  check ((part is null) = (account_id is null)),
  check ((source_language is null) = (target_language is null))
);
-- A new price ends the previous one at its start. The index stops two operators from starting one at the same moment.
create unique index prices_start
  on prices (tier, account_id, source_language, target_language, valid_from) nulls not distinct;
grant select, insert, update, delete on prices to dragoman_app;

-- Idempotency keys of an operator's requests about money: a request that is sent again gets the first answer.
create table money_requests (
  part         smallint not null,
  account_id   uuid not null,
  key          text collate "C" not null check (length(key) between 1 and 255),
  request_hash bytea not null,
  answer       jsonb,
  created_at   timestamptz not null default now(),
  primary key (part, account_id, key),
  foreign key (part, account_id) references accounts (part, account_id)
);
grant select, insert, update, delete on money_requests to dragoman_app;


-- ==== deliveries: events and callbacks ===============================================================================

-- Everything that is reported to customers, with or without a callback. Append-only but for `position`: the place
-- in the feed. It is set after the commit, when a reader first asks, so no reader has passed it (deliveries/feed.ts).
create table events (
  part        smallint not null,
  account_id  uuid not null,
  event_id    uuid not null, -- also the id of its callback, if there is one
  environment text not null check (environment in ('production', 'sandbox')),
  type        text not null constraint events_type check (type in ('job.completed', 'job.failed', 'job.canceled',
                'job.asked', 'message.translated', 'message.failed', 'message.corrected', 'test')),
  job_id      uuid,
  chat_id     uuid,
  message_id  uuid,
  created_at  timestamptz not null default clock_timestamp(),
  position    bigint,
  primary key (part, account_id, event_id),
  constraint events_subject check (num_nonnulls(job_id, message_id) <= 1
    and (chat_id is null) = (message_id is null))
);
create unique index events_placed on events (part, account_id, environment, position)
  where position is not null;
create index events_unplaced on events (part, account_id, environment, created_at, event_id)
  where position is null;
grant select, insert, update (position), delete on events to dragoman_app;

-- The last position of each feed.
create table feeds (
  part          smallint not null,
  account_id    uuid not null,
  environment   text not null check (environment in ('production', 'sandbox')),
  last_position bigint not null default 0,
  primary key (part, account_id, environment)
);
grant select, insert, update, delete on feeds to dragoman_app;

-- Callbacks: the outbox. Written in the transaction that ends the job or message.
create table deliveries (
  part            smallint not null,
  account_id      uuid not null,
  delivery_id     uuid not null,
  environment     text not null check (environment in ('production', 'sandbox')),
  job_id          uuid,
  chat_id         uuid,
  message_id      uuid,
  event           text not null constraint deliveries_event check (event in ('job.completed', 'job.failed',
                    'job.canceled', 'job.asked', 'message.translated', 'message.failed', 'message.corrected',
                    'test')),
  endpoint_id     uuid, -- of the webhook endpoint, which may be deleted by now; null: a callback URL of a request
  url             text not null,
  host            text collate "C" not null default '',
  content_type    text not null,
  headers         jsonb not null default '{}', -- in addition to those of the signature
  body            bytea not null, -- stored once, every attempt sends these bytes
  status          text not null default 'pending' check (status in ('pending', 'delivered', 'dead')),
  failure         text constraint deliveries_failure check (failure in ('gone', 'out of time',
                    'endpoint disabled', 'test failed')),
  -- The callbacks of one job or chat share `order_key`, and so do its deliveries to one endpoint. They are sent by
  -- `queued_at`, which also starts their 72 hours. A replay resets it. The clock's time, not the transaction's: of two
  -- that wait for one row, the later writes later.
  order_key       uuid,
  queued_at       timestamptz not null default clock_timestamp(),
  created_at      timestamptz not null default clock_timestamp(),
  finished_at     timestamptz,
  due_at          timestamptz default now(),
  attempts        integer not null default 0,
  attempts_before integer not null default 0, -- do not count for the schedule: before the last replay, or by hand
  scheduled_at    timestamptz, -- of the retry that an attempt by hand precedes
  attempt_started_at timestamptz, -- of the last attempt, until it ended (then it is in "attempts") or was withdrawn
  lease_token     uuid,
  primary key (part, account_id, delivery_id),
  foreign key (part, account_id, job_id) references jobs (part, account_id, job_id),
  check ((status = 'pending') = (due_at is not null)),
  check (lease_token is null or due_at is not null),
  constraint deliveries_subject check (num_nonnulls(job_id, message_id) <= 1
    and (chat_id is null) = (message_id is null))
);
-- The sender has a queue for each account and host.
create index deliveries_due on deliveries (part, account_id, host, due_at) where due_at is not null;
create index deliveries_in_order on deliveries (part, account_id, order_key, queued_at, delivery_id)
  where status = 'pending' and order_key is not null;
create index deliveries_dead on deliveries (part, account_id, environment, delivery_id) where status = 'dead';
grant select, insert, update, delete on deliveries to dragoman_app;

-- Attempts at a delivery that ended, or that another attempt followed. The attempt in progress is in its delivery
-- ("attempts", "attempt_started_at"), which records it before its request is sent.
create table attempts (
  part            smallint not null,
  account_id      uuid not null,
  delivery_id     uuid not null,
  attempt         integer not null,
  started_at      timestamptz not null,
  finished_at     timestamptz,
  outcome         text constraint attempts_outcome check (outcome in ('answered', 'timeout', 'refused address',
                    'connect', 'reset', 'tls', 'other')),
  status_code     smallint,
  milliseconds    integer,
  detail          text,  -- one sentence about the outcome
  headers         jsonb, -- of the answer, shortened
  answer          text,  -- its first 4 KiB; bytes that are not UTF-8 are replaced
  answer_complete boolean,
  primary key (part, account_id, delivery_id, attempt),
  foreign key (part, account_id, delivery_id) references deliveries (part, account_id, delivery_id)
);
grant select, insert, update, delete on attempts to dragoman_app;

-- Circuit breakers: a host at which an account's deliveries fail. A host that answers has no row.
create table breakers (
  part       smallint not null,
  account_id uuid not null,
  host       text collate "C" not null,
  failures   integer not null check (failures > 0), -- in a row
  openings   integer not null default 0 check (openings >= 0), -- since the last answer
  open_until timestamptz, -- nothing is sent before this time, and then one delivery at a time
  primary key (part, account_id, host)
);
grant select, insert, update, delete on breakers to dragoman_app;


-- ==== chats ==========================================================================================================

create table chats (
  part              smallint not null,
  account_id        uuid not null,
  chat_id           uuid not null,
  environment       text not null check (environment in ('production', 'sandbox')),
  external_id       text collate "C" not null,
  agent_external_id text,
  brand             text,
  created_at        timestamptz not null default now(),
  -- The lock of this row orders the chat: a message takes its position and records its event while it holds the lock.
  -- Positions have no gaps, so the last one is also the number of messages.
  last_position     integer not null default 0,
  -- Every message up to this position has an answer and an event.
  answered_position integer not null default 0,
  primary key (part, account_id, chat_id),
  unique (part, account_id, environment, external_id),
  check (answered_position between 0 and last_position)
) with (fillfactor = 50); -- updated with every message
grant select, insert, update, delete on chats to dragoman_app;

create table messages (
  part               smallint not null,
  account_id         uuid not null,
  message_id         uuid not null,
  environment        text not null check (environment in ('production', 'sandbox')),
  chat_id            uuid not null,
  position           integer not null check (position > 0), -- in its chat, from 1
  external_id        text collate "C" not null,
  author_external_id text,
  callback_url       text,
  is_inbound         boolean,
  source_language    text not null,
  target_language    text not null,
  text_format        text not null check (text_format in ('text', 'html')),
  characters         integer not null check (characters >= 0),
  body               text not null,
  default_brand      text, -- the account's default at creation, used if the chat has no brand
  translation_id     uuid not null,
  translated         text,
  status             text not null check (status in ('mt_init', 'deliver_init', 'deliver_complete', 'mt_failed',
                       'deliver_failed')),
  failure            text,
  created_at         timestamptz not null default clock_timestamp(),
  completed_at       timestamptz,
  due_at             timestamptz,
  attempts           integer not null default 0,
  lease_token        uuid,
  primary key (part, account_id, message_id),
  unique (part, account_id, chat_id, external_id),
  unique (part, account_id, chat_id, position),
  foreign key (part, account_id, chat_id) references chats (part, account_id, chat_id),
  check ((status = 'mt_init') = (due_at is not null)),
  check ((status in ('deliver_init', 'deliver_complete', 'deliver_failed')) = (translated is not null)),
  check ((translated is null) = (completed_at is null)),
  check (lease_token is null or due_at is not null)
) with (fillfactor = 85);
create index messages_due on messages (part, account_id, due_at) where due_at is not null;
create index messages_unanswered on messages (part, account_id, chat_id, position) where status = 'mt_init';
grant select, insert, update, delete on messages to dragoman_app;

-- Messages that people correct, from their delivery on. The work is a job of tier `chat`.
create table message_corrections (
  part         smallint not null,
  account_id   uuid not null,
  message_id   uuid not null,
  job_id       uuid, -- null until the job is made
  created_at   timestamptz not null default now(),
  finished_at  timestamptz,
  primary key (part, account_id, message_id),
  unique (part, account_id, job_id),
  foreign key (part, account_id, message_id) references messages (part, account_id, message_id),
  foreign key (part, account_id, job_id) references jobs (part, account_id, job_id)
);
create index message_corrections_due on message_corrections (created_at) where job_id is null;
grant select, insert, update, delete on message_corrections to dragoman_app;


-- ==== editing: tasks and edits =======================================================================================

-- One row for each job that editors work on. Concurrent submits, cancels and fallbacks lock it. `due_at` is the
-- deadline, or now if the result is ready to be assembled.
create table edited_jobs (
  part        smallint not null,
  account_id  uuid not null,
  job_id      uuid not null,
  stage       text not null check (stage in ('editing', 'review', 'assembling', 'done', 'canceled')),
  revision    integer not null default 1 check (revision >= 1), -- each rejection adds one
  words       integer not null check (words >= 0),
  fallback    text not null check (fallback in ('wait', 'machine')), -- as in brands
  created_at  timestamptz not null default now(),
  deadline_at timestamptz not null,
  due_at      timestamptz,
  tries       smallint not null default 0, -- to assemble the result, at this stage
  finished_at timestamptz,
  primary key (part, account_id, job_id),
  foreign key (part, account_id, job_id) references jobs (part, account_id, job_id),
  check (stage in ('editing', 'review', 'assembling') or due_at is null)
);
create index edited_jobs_due on edited_jobs (due_at) where due_at is not null;
grant select, insert, update, delete on edited_jobs to dragoman_app;

-- A task is the work of one editor: a range of a job's segments to edit, or the whole job to review.
create table tasks (
  part            smallint not null,
  account_id      uuid not null,
  task_id         uuid not null,
  job_id          uuid not null,
  kind            text not null check (kind in ('edit', 'review')),
  status          text not null default 'open'
                  check (status in ('open', 'claimed', 'submitted', 'done', 'reported', 'canceled')),
  first_position  integer not null check (first_position >= 0),
  last_position   integer not null check (last_position >= first_position),
  words           integer not null check (words >= 0),
  source_language text collate "C" not null, -- copied from the job for the queue
  target_language text collate "C" not null,
  priority        smallint not null default 0 check (priority between -10 and 10),
  deadline_at     timestamptz not null,
  editor_id       uuid, -- who has the task, or had it last
  reserved_for    uuid, -- a returned task is offered to this editor first, until `reserved_until`
  reserved_until  timestamptz,
  returned        boolean not null default false,
  created_at      timestamptz not null default now(),
  changed_at      timestamptz not null default now(),
  primary key (part, account_id, task_id),
  foreign key (part, account_id, job_id) references edited_jobs (part, account_id, job_id),
  check ((reserved_for is null) = (reserved_until is null)),
  check (status <> 'claimed' or editor_id is not null)
) with (fillfactor = 85);
-- No two tasks start at one segment, and a job has one review at a time.
create unique index tasks_of_job on tasks (part, account_id, job_id, kind, first_position) where status <> 'canceled';
create index tasks_open on tasks (source_language, target_language, kind, part, account_id, priority desc, deadline_at,
  task_id) where status = 'open';
create index tasks_unfinished on tasks (source_language, target_language, kind, status)
  where status in ('open', 'claimed', 'submitted', 'reported');
create index tasks_by_id on tasks (task_id); -- an editor's request names only the task
grant select, insert, update, delete on tasks to dragoman_app;

-- An editor's lease on a task. `claim_id` is the fencing token of everything that the editor writes.
create table claims (
  part        smallint not null,
  account_id  uuid not null,
  claim_id    uuid not null,
  task_id     uuid not null,
  job_id      uuid not null,
  kind        text not null check (kind in ('edit', 'review')),
  user_id     uuid not null,
  claimed_at  timestamptz not null default now(),
  lease_until timestamptz not null, -- saves extend it
  limit_until timestamptz not null, -- saves do not
  extended    boolean not null default false,
  saves       integer not null default 0,
  active_ms   bigint not null default 0,
  ended_at    timestamptz,
  ended       text check (ended in ('submitted', 'returned', 'released', 'lease_expired', 'limit_expired', 'skipped',
                'reported', 'canceled', 'reassigned')),
  primary key (part, account_id, claim_id),
  foreign key (part, account_id, task_id) references tasks (part, account_id, task_id),
  check ((ended_at is null) = (ended is null))
) with (fillfactor = 85);
-- A task has one editor.
create unique index claims_held on claims (part, account_id, task_id) where ended_at is null;
create index claims_of_job on claims (part, account_id, job_id);
create index claims_running_out on claims (least(lease_until, limit_until)) where ended_at is null;
create index claims_of_user on claims (user_id, ended_at);
grant select, insert, update, delete on claims to dragoman_app;

-- Limits how many tasks an editor has at a time: each claim takes one of the editor's slots. Its own table because
-- an editor's claims belong to many accounts and no unique key of an account's table spans accounts.
create table editor_slots (
  user_id    uuid not null,
  kind       text not null check (kind in ('edit', 'review')),
  slot       smallint not null check (slot >= 0),
  part       smallint not null,
  account_id uuid not null,
  task_id    uuid not null,
  primary key (user_id, kind, slot),
  unique (part, account_id, task_id)
);
grant select, insert, delete on editor_slots to dragoman_app;

-- Targets that editors wrote; a segment without a row is unchanged. Apart from `segments`, which the machine
-- writes in bulk and rewrites when a job is drafted again. An edit is saved while its editor types, and no machine
-- overwrites it.
create table edits (
  part         smallint not null,
  account_id   uuid not null,
  job_id       uuid not null,
  position     integer not null,
  status       text not null check (status in ('draft', 'confirmed')),
  target       jsonb not null,
  revision     integer not null check (revision >= 1),
  editor_id    uuid not null,
  active_ms    bigint not null default 0 check (active_ms >= 0),
  distance     integer not null default 0 check (distance >= 0), -- edit distance from the draft, in characters
  words        integer not null default 0 check (words >= 0),    -- of the source, once confirmed
  acknowledged text[] not null default '{}', -- findings of the checks that the editor has accepted
  filled_from  integer, -- position whose target was copied here, until an editor changes it
  changed_at   timestamptz not null default now(),
  confirmed_at timestamptz,
  primary key (part, account_id, job_id, position),
  -- Cascades, here and below: a job that is drafted again may be divided into other segments.
  foreign key (part, account_id, job_id, position) references segments (part, account_id, job_id, position)
    on delete cascade,
  check ((status = 'confirmed') = (confirmed_at is not null))
) with (fillfactor = 80);
create index edits_of_editor on edits (editor_id, confirmed_at) where confirmed_at is not null;
grant select, insert, update, delete on edits to dragoman_app;

-- Earlier targets of a segment: each confirmed one, and (`left`) what was saved after a claim had ended.
create table edit_history (
  part       smallint not null,
  account_id uuid not null,
  history_id uuid not null,
  job_id     uuid not null,
  position   integer not null,
  kind       text not null check (kind in ('confirmed', 'left')),
  target     jsonb not null,
  revision   integer not null,
  editor_id  uuid not null,
  created_at timestamptz not null default now(),
  primary key (part, account_id, history_id),
  foreign key (part, account_id, job_id) references edited_jobs (part, account_id, job_id),
  foreign key (part, account_id, job_id, position) references segments (part, account_id, job_id, position)
    on delete cascade
);
create index edit_history_of_segment on edit_history (part, account_id, job_id, position);
grant select, insert, delete on edit_history to dragoman_app;

-- Editors who declined a task, and their reasons.
create table task_skips (
  part       smallint not null,
  account_id uuid not null,
  task_id    uuid not null,
  user_id    uuid not null,
  reason     text not null check (reason in ('too_hard', 'not_my_topic', 'no_time', 'other')),
  created_at timestamptz not null default now(),
  primary key (part, account_id, task_id, user_id),
  foreign key (part, account_id, task_id) references tasks (part, account_id, task_id)
);
grant select, insert, delete on task_skips to dragoman_app;

-- Problems with a task for an operator to decide. Append-only but for `note`, which may quote a text.
create table task_reports (
  part       smallint not null,
  account_id uuid not null,
  report_id  uuid not null,
  task_id    uuid not null,
  user_id    uuid not null,
  reason     text not null check (reason in ('bad_source', 'wrong_language', 'mixed_languages', 'offensive',
               'unclear_instructions', 'other', 'skipped', 'no_human')),
  note       text check (char_length(note) <= 2000),
  created_at timestamptz not null default now(),
  primary key (part, account_id, report_id),
  foreign key (part, account_id, task_id) references tasks (part, account_id, task_id)
);
create index task_reports_of_task on task_reports (part, account_id, task_id);
grant select, insert, update (note), delete on task_reports to dragoman_app;

-- Errors that a reviewer marked, in the categories of MQM (Multidimensional Quality Metrics).
create table issues (
  part        smallint not null,
  account_id  uuid not null,
  issue_id    uuid not null,
  job_id      uuid not null,
  position    integer not null,
  category    text not null check (category in ('accuracy', 'terminology', 'linguistic_conventions', 'style',
                'locale_conventions', 'audience_appropriateness', 'design_and_markup')),
  severity    text not null check (severity in ('neutral', 'minor', 'major', 'critical')),
  note        text check (char_length(note) <= 2000),
  range_start integer,
  range_end   integer,
  reviewer_id uuid not null,
  editor_id   uuid, -- who wrote the target
  task_id     uuid not null, -- the review
  created_at  timestamptz not null default now(),
  primary key (part, account_id, issue_id),
  foreign key (part, account_id, job_id, position) references segments (part, account_id, job_id, position)
    on delete cascade,
  check ((range_start is null) = (range_end is null) and range_start <= range_end)
);
create index issues_of_job on issues (part, account_id, job_id);
create index issues_of_editor on issues (editor_id, created_at);
grant select, insert, update (note, position, range_start, range_end), delete on issues to dragoman_app;

create table comments (
  part       smallint not null,
  account_id uuid not null,
  comment_id uuid not null,
  job_id     uuid not null,
  position   integer, -- null: about the whole job
  user_id    uuid,    -- null: the customer, through the API
  body       text not null check (char_length(body) between 1 and 2000),
  created_at timestamptz not null default now(),
  primary key (part, account_id, comment_id),
  foreign key (part, account_id, job_id) references edited_jobs (part, account_id, job_id)
);
create index comments_of_job on comments (part, account_id, job_id);
grant select, insert, update (position), delete on comments to dragoman_app;

-- The last look of a reviewer at a segment, with the target that they saw. The segment counts as seen as long as this is
-- its current target.
create table looks (
  part       smallint not null,
  account_id uuid not null,
  job_id     uuid not null,
  position   integer not null,
  user_id    uuid not null, -- the reviewer
  target     jsonb not null,
  primary key (part, account_id, job_id, position, user_id),
  foreign key (part, account_id, job_id, position) references segments (part, account_id, job_id, position)
    on delete cascade
);
grant select, insert, update, delete on looks to dragoman_app;

-- Segments that an editor marked as unsure, for the reviewer.
create table unsure_marks (
  part       smallint not null,
  account_id uuid not null,
  job_id     uuid not null,
  position   integer not null,
  user_id    uuid not null, -- who marked it
  primary key (part, account_id, job_id, position),
  foreign key (part, account_id, job_id, position) references segments (part, account_id, job_id, position)
    on delete cascade
);
grant select, insert, delete on unsure_marks to dragoman_app;

-- Questions of editors to the customer, each about one segment. While a query is open, the segment cannot be confirmed and
-- its task cannot be submitted. The moves between the statuses are in editing/states.ts.
create table queries (
  part        smallint not null,
  account_id  uuid not null,
  query_id    uuid not null,
  job_id      uuid not null,
  position    integer not null,
  user_id     uuid not null, -- the editor
  question    text not null check (char_length(question) between 1 and 2000),
  status      text not null default 'open' check (status in ('open', 'answered', 'withdrawn', 'closed')),
  answer      text check (char_length(answer) between 1 and 2000),
  asked_at    timestamptz not null default now(),
  ended_at    timestamptz,
  primary key (part, account_id, query_id),
  foreign key (part, account_id, job_id) references edited_jobs (part, account_id, job_id),
  check ((status = 'open') = (ended_at is null)),
  check ((status = 'answered') = (answer is not null))
);
create unique index queries_open on queries (part, account_id, job_id, position) where status = 'open';
create index queries_of_job on queries (part, account_id, job_id);
grant select, insert, update (status, answer, ended_at, position), delete on queries to dragoman_app;

-- The waiting segments of human jobs by their reading, so that a confirmed text can find its repeats in other jobs.
create table readings (
  part       smallint not null,
  account_id uuid not null,
  job_id     uuid not null,
  position   integer not null,
  -- SHA-256 of the environment, the language pair, the brand, the tone and the source with its codes by shape.
  reading    bytea not null check (octet_length(reading) = 32),
  context    text not null check (context in ('only', 'first', 'later')), -- the place of the segment in its text
  primary key (part, account_id, job_id, position),
  foreign key (part, account_id, job_id, position) references segments (part, account_id, job_id, position)
    on delete cascade
);
create index readings_of on readings (part, account_id, reading, job_id, position);
grant select, insert, update, delete on readings to dragoman_app;

-- Confirmed targets as votes for their readings.
create table votes (
  part         smallint not null,
  account_id   uuid not null,
  vote_id      uuid not null,
  job_id       uuid not null,
  position     integer not null,
  reading      bytea not null check (octet_length(reading) = 32), -- this and `context` as in readings
  context      text not null check (context in ('only', 'first', 'later')),
  editor_id    uuid not null,
  reviewed     boolean not null default false, -- a reviewer confirmed it
  target       jsonb not null,                 -- with the code numbers of the segment that was confirmed
  target_hash  bytea not null check (octet_length(target_hash) = 32),
  acknowledged text[] not null default '{}',   -- as in edits
  voted_at     timestamptz not null default clock_timestamp(),
  withdrawn_at timestamptz, -- the text was rejected, withdrawn or changed
  primary key (part, account_id, vote_id),
  unique (part, account_id, job_id, position),
  foreign key (part, account_id, job_id, position) references segments (part, account_id, job_id, position)
    on delete cascade
);
-- Leads to the latest vote of each editor, and to all votes for a reading.
create index votes_of on votes (part, account_id, reading, context, editor_id, voted_at desc, vote_id desc);
-- Leads to the latest vote of each editor for each text, apart from the latest withdrawn one.
create index votes_texts on votes (part, account_id, reading, context, editor_id, target_hash, (withdrawn_at is null),
  voted_at desc, vote_id desc);
grant select, insert, update, delete on votes to dragoman_app;

-- Segments that hold the text of a vote, with the draft that it replaced.
create table fills (
  part        smallint not null,
  account_id  uuid not null,
  job_id      uuid not null,
  position    integer not null,
  vote_id     uuid not null,
  target_hash bytea not null check (octet_length(target_hash) = 32),
  revision    integer not null default 0 check (revision >= 0), -- of the edit that the fill confirmed; 0: a draft
  words       integer not null check (words >= 0),              -- of the source
  draft       jsonb,
  route       text,
  notes       text[] not null,
  failure     text,
  filled_at   timestamptz not null default now(),
  -- Null if a vote filled the segment. Otherwise a rule did: then it is the vote's fill that the rule replaced, with its
  -- draft and edit; {} if there is no such fill to restore.
  under_rule  jsonb,
  primary key (part, account_id, job_id, position),
  foreign key (part, account_id, job_id, position) references segments (part, account_id, job_id, position)
    on delete cascade
);
create index fills_of on fills (part, account_id, vote_id);
grant select, insert, update, delete on fills to dragoman_app;

-- The readings for which editors prefer different texts in one place, and the text that the customer made the rule. A
-- row without a rule is deleted when the editors agree.
create table disagreements (
  part            smallint not null,
  account_id      uuid not null,
  disagreement_id uuid not null,
  reading         bytea not null check (octet_length(reading) = 32), -- this and `context` as in readings
  context         text not null check (context in ('only', 'first', 'later')),
  job_id          uuid not null, -- of the latest of these votes
  noted_at        timestamptz not null default clock_timestamp(),
  -- The rule; null: none. It is a copy of a vote, and stays when the vote changes or is deleted.
  ruled_at        timestamptz,
  vote_id         uuid,
  editor_id       uuid,
  source          jsonb,
  target          jsonb,
  target_hash     bytea check (octet_length(target_hash) = 32),
  acknowledged    text[],
  primary key (part, account_id, disagreement_id),
  unique (part, account_id, reading, context),
  foreign key (part, account_id) references accounts (part, account_id),
  check (num_nulls(ruled_at, vote_id, editor_id, source, target, target_hash, acknowledged) in (0, 7))
);
grant select, insert, update, delete on disagreements to dragoman_app;

-- The queue of readings whose votes have changed, and of jobs whose segments wait again. A row is deleted when it is done.
create table propagations (
  part           smallint not null,
  account_id     uuid not null,
  propagation_id uuid not null default gen_random_uuid(),
  reading        bytea check (octet_length(reading) = 32),
  job_id         uuid,
  due_at         timestamptz default now(),
  lease_token    uuid,
  attempts       integer not null default 0,
  primary key (part, account_id, propagation_id),
  foreign key (part, account_id) references accounts (part, account_id),
  check ((reading is null) <> (job_id is null))
) with (fillfactor = 80);
create index propagations_due on propagations (part, account_id, due_at) where due_at is not null;
create index propagations_of_reading on propagations (part, account_id, reading) where reading is not null;
create index propagations_of_job on propagations (part, account_id, job_id) where job_id is not null;
grant select, insert, update, delete on propagations to dragoman_app;

-- ==== memory: the translation memory =================================================================================

-- One translation of one source segment. A source may have several; the one with the highest weight is used.
create table memory (
  part            smallint not null,
  account_id      uuid not null,
  memory_id       uuid not null,
  brand           text not null default '', -- '': every brand
  source_language text not null,
  target_language text not null,
  source_hash     bytea not null, -- of the source in the form of `memory/form.ts`
  source          jsonb not null,
  target          jsonb not null,
  target_hash     bytea not null default '',
  tone            text, -- of the job that confirmed it; null: none, or not known
  origin          text not null check (origin in ('import', 'job')),
  weight          smallint not null default 1 check (weight >= 0), -- of its best lesson
  sketch          integer[] not null default '{}', -- finds similar sources (memory/sketch.ts)
  searched        text not null default '', -- finds words (memory/form.ts)
  created_at      timestamptz not null default now(),
  changed_at      timestamptz not null default now(),
  withdrawn_at    timestamptz, -- a person withdrew the entry; a person may restore it
  withdrawn_by    text,
  withdraw_reason  text,
  primary key (part, account_id, memory_id),
  foreign key (part, account_id) references accounts (part, account_id),
  constraint memory_translation unique (part, account_id, source_language, target_language, source_hash, brand,
    target_hash),
  constraint memory_withdrawn check ((withdrawn_at is null) = (withdrawn_by is null))
);
-- The values of a sketch are salted with the account and the pair, so they never match those of others. Without
-- fastupdate: each search would read the whole pending list (measured: 20 ms).
create index memory_alike on memory using gin (sketch) with (fastupdate = off);
create index memory_searched on memory using gin (account_id, searched gin_trgm_ops);
grant select, insert, update, delete on memory to dragoman_app;

-- Which segment of which job taught an entry: its editor, its neighbours, and how the customer received it. A split
-- segment teaches itself and its parts.
create table memory_lessons (
  part         smallint not null,
  account_id   uuid not null,
  job_id       uuid not null,
  position     integer not null,
  memory_id    uuid not null,
  editor_id    uuid,
  outcome      text not null check (outcome in ('delivered', 'reviewed', 'accepted', 'rejected')),
  context_hash bytea, -- of both neighbours; null if one is missing
  created_at   timestamptz not null default now(),
  primary key (part, account_id, job_id, position, memory_id),
  foreign key (part, account_id, memory_id) references memory (part, account_id, memory_id) on delete cascade
);
create index memory_lessons_of_entry on memory_lessons (part, account_id, memory_id, context_hash);
grant select, insert, update, delete on memory_lessons to dragoman_app;

-- Where an entry was used: `applied` to a draft by the machine, or `taken` by an editor.
create table memory_uses (
  part       smallint not null,
  account_id uuid not null,
  memory_id  uuid not null,
  job_id     uuid not null,
  position   integer not null,
  how        text not null check (how in ('applied', 'taken')),
  created_at timestamptz not null default now(),
  primary key (part, account_id, memory_id, job_id, position, how),
  foreign key (part, account_id, memory_id) references memory (part, account_id, memory_id) on delete cascade
);
create index memory_uses_of_job on memory_uses (part, account_id, job_id);
grant select, insert, update, delete on memory_uses to dragoman_app;

-- How many words editors changed in the drafts of engines and of similar memory entries, for segments that had both
-- (memory/efforts.ts).
create table memory_efforts (
  part            smallint not null,
  account_id      uuid not null,
  source_language text not null,
  target_language text not null,
  tone            text not null, -- of the jobs; '': none
  day             date not null, -- of the deliveries
  route           text not null, -- of the engine's draft, with the model
  band            smallint not null check (band in (75, 85, 95)), -- the lowest score of the entries, in percent
  started         text not null check (started in ('engine', 'memory')), -- the draft from which the editors started
  segments        bigint not null,
  words           bigint not null, -- of the delivered texts
  engine_edits    bigint not null, -- words that differ between the engine's draft and the delivered text
  memory_edits    bigint not null, -- the same for the draft of the memory
  primary key (part, account_id, source_language, target_language, tone, day, route, band, started),
  foreign key (part, account_id) references accounts (part, account_id)
);
create index memory_efforts_of_pair on memory_efforts (source_language, target_language, tone, day);
grant select, insert, update, delete on memory_efforts to dragoman_app;


-- ==== accounts: the sandbox ==========================================================================================

-- Requests for a sandbox account. When one is granted, a link shows the first API key once.
create table sandbox_requests (
  request_id  uuid primary key,
  created_at  timestamptz not null default now(),
  name        text not null check (char_length(name) between 1 and 100),
  email       text collate "C" not null check (email = lower(email) and char_length(email) <= 254),
  company     text not null check (char_length(company) <= 200),
  purpose     text not null check (char_length(purpose) <= 2000),
  locale      text check (char_length(locale) <= 20),
  status      text not null default 'open' check (status in ('open', 'granted', 'refused')),
  decided_at  timestamptz,
  decided_by  text check (char_length(decided_by) <= 254),
  part        smallint,
  account_id  uuid,
  token_hash  bytea unique check (octet_length(token_hash) = 32), -- of the link; null: no link, or it was used
  expires_at  timestamptz,
  shown_at    timestamptz, -- when the key was shown
  mailed      text check (mailed in ('sent', 'failed')), -- null: no mail was to be sent
  foreign key (part, account_id) references accounts (part, account_id),
  check ((status = 'open') = (decided_at is null)),
  check ((status = 'granted') = (account_id is not null)),
  check ((part is null) = (account_id is null))
);
create index sandbox_requests_by_status on sandbox_requests (status, request_id);
-- A second request of the same address joins the first.
create unique index sandbox_requests_open on sandbox_requests (email) where status = 'open';
grant select, insert, update on sandbox_requests to dragoman_app;

-- Words that an account has translated in the sandbox on `day` (UTC), for the daily limit. The next day replaces them.
create table sandbox_words (
  part       smallint not null,
  account_id uuid not null,
  day        date not null,
  words      bigint not null,
  primary key (part, account_id)
) with (fillfactor = 50);
grant select, insert, update, delete on sandbox_words to dragoman_app;


-- ==== all tables =====================================================================================================

-- Statistics of `part` for the planner. The account determines the part, but the planner takes them for independent: it
-- estimates one row for an account with a fifth of 200,000 jobs, and then reads all of them (measured: 180 ms a page
-- of 20 jobs instead of 0.1). With a single distinct value and no list of common values, the account alone counts.
do $$
declare
  one record;
begin
  for one in
    select c.oid::regclass as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and a.attname = 'part'
  loop
    execute format('alter table %s alter part set (n_distinct = 1), alter part set statistics 1', one.name);
  end loop;
end
$$;

-- Erasure of an account in the append-only tables: removes names and texts of the account and its people from the audit
-- and the transfers. What happened, when, by which id and for which amount stays. Only accounts to be erased are taken.
create function forget_account(wanted_part smallint, wanted_account uuid) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  uuid_text constant text := '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
begin
  perform from accounts where part = wanted_part and account_id = wanted_account
      and num_nonnulls(erase_requested_at, erased_at) > 0;
  if not found then
    raise exception 'account % is not to be erased', wanted_account;
  end if;

  -- Names of the account's people become their ids, also in entries about no account. Afterwards the ids are unknown.
  update audit set name = user_id::text
   where user_id in (select user_id from users where part = wanted_part and account_id = wanted_account);
  update audit e set subject = u.user_id::text from users u
   where u.part = wanted_part and u.account_id = wanted_account and e.subject = u.email;

  -- Keeps only fields that never contain a person's words. A second run changes nothing.
  update audit set
    -- A deleted user may leave only an id; operators and commands do not belong to the account.
    name = case when actor = 'person' and name !~ uuid_text
                 and not exists (select from users u where u.user_id = audit.user_id) then 'erased' else name end,
    subject = case
      when action ~ '^(delivery|endpoint|key|memory|price|route|rule|sandbox|task|vote|webhook_secret)[.]' then subject
      when action ~ '^(account|deliveries|money)[.]' then account_id::text
      when action ~ '^person[.]' and subject ~ uuid_text then subject
      else 'erased' end,
    detail = (
      select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(detail)
       where jsonb_typeof(value) in ('boolean', 'null', 'number')
          or key in ('engine', 'environment', 'order_number', 'purpose', 'role', 'since',
                     'source_language', 'target_language', 'tier', 'user'))
   where part = wanted_part and account_id = wanted_account;

  update transfers set memo = null
   where part = wanted_part and account_id = wanted_account and memo is not null;
end
$$;
revoke all on function forget_account from public;
grant execute on function forget_account to dragoman_app;
