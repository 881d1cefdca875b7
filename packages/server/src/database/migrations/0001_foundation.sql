-- The first house: accounts, keys, ledger, jobs, segments, deliveries.
--
-- Rules that every table here keeps (docs/decisions/0002-schema.md):
--   * `part`, then `account_id`, lead every primary, unique and foreign key of a table that belongs to an
--     account. `accounts`, `keys` and `pairs` are small reference tables, read everywhere.
--   * Ids are UUIDv7 made by the application. No triggers, no locks or unique keys across parts.
--   * What must never change is append-only by privilege: the application's role has no UPDATE or DELETE.

create table accounts (
  account_id uuid primary key,
  part       smallint not null check (part between 0 and 255),
  username   text collate "C" not null unique check (username ~ '^[A-Za-z0-9._@+-]{1,64}$'),
  email      text,
  chat       boolean not null default false,
  created_at timestamptz not null default now(),
  unique (part, account_id)
);

create table keys (
  key_id      text collate "C" primary key,
  part        smallint not null,
  account_id  uuid not null,
  environment text not null check (environment in ('production', 'sandbox')),
  name        text not null,
  secret_hash bytea not null,
  dialect     text not null default 'spec' check (dialect in ('spec', 'legacy')),
  read_only   boolean not null default false,
  expires_at  timestamptz,
  revoked_at  timestamptz,
  created_at  timestamptz not null default now(),
  foreign key (part, account_id) references accounts (part, account_id)
);
create index keys_of_account on keys (part, account_id);

create table webhook_secrets (
  part        smallint not null,
  account_id  uuid not null,
  secret_id   uuid not null,
  environment text not null check (environment in ('production', 'sandbox')),
  sealed      bytea not null,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz,
  primary key (part, account_id, secret_id),
  foreign key (part, account_id) references accounts (part, account_id)
);

-- Directions that an engine has shown it can do; kept by the workers, read by the interface.
create table pairs (
  source_language text collate "C" not null,
  target_language text collate "C" not null,
  engine          text not null,
  route           text not null,
  hops            smallint not null,
  engine_version  text not null, -- what was measured holds for this version of the engine and its data
  checked_at      timestamptz not null,
  primary key (source_language, target_language, engine)
);

create table balances (
  part               smallint not null,
  account_id         uuid not null,
  environment        text not null check (environment in ('production', 'sandbox')),
  available_cents    bigint not null default 0,
  credit_limit_cents bigint check (credit_limit_cents >= 0), -- null: no limit
  primary key (part, account_id, environment),
  foreign key (part, account_id) references accounts (part, account_id),
  constraint balances_credit_limit check (available_cents >= -credit_limit_cents)
) with (fillfactor = 50); -- one hot row an account: room for updates in place

create table jobs (
  part            smallint not null,
  account_id      uuid not null, -- no foreign key: an account is never deleted, and every insert would lock its row
  job_id          uuid not null,
  order_number    bigint generated always as identity,
  environment     text not null check (environment in ('production', 'sandbox')),
  tier            text not null check (tier in ('human', 'machine')),
  uid             text collate "C" not null,
  request_hash    bytea not null, -- of the creating body: tells a retry from a clash
  dialect         text not null check (dialect in ('spec', 'legacy')),
  status          text not null check (status in ('new', 'machine_translate_in_progress', 'translating',
                    'completed', 'failed', 'canceled', 'accepted', 'rejected')),
  source_language text not null,
  target_language text not null,
  text_format     text not null check (text_format in ('text', 'html', 'srt', 'xliff')),
  tone            text,
  topics          text[],
  brand           text,
  callback_url    text,
  words           integer not null check (words >= 0),
  characters      integer not null check (characters >= 0),
  price_cents     bigint not null check (price_cents >= 0),
  created_at      timestamptz not null default now(),
  hold_until      timestamptz, -- a finished result is not shown or delivered before
  finished_at     timestamptz,
  failure         text,
  -- the job is its own queue entry; due_at is null when no machine has work on it
  due_at          timestamptz,
  attempts        integer not null default 0,
  lease_token     uuid,
  primary key (part, account_id, job_id),
  unique (part, account_id, environment, uid),
  check (lease_token is null or due_at is not null)
) with (fillfactor = 85);
create index jobs_due on jobs (part, account_id, due_at) where due_at is not null;
create index jobs_listed on jobs (part, account_id, environment, tier, job_id);

-- Big columns apart from hot ones, one row a text: a result does not copy its source.
create table job_texts (
  part       smallint not null,
  account_id uuid not null,
  job_id     uuid not null,
  kind       text not null check (kind in ('source', 'supplied', 'instructions', 'result')),
  body       text not null,
  primary key (part, account_id, job_id, kind),
  foreign key (part, account_id, job_id) references jobs (part, account_id, job_id)
);

create table segments (
  part       smallint not null,
  account_id uuid not null,
  job_id     uuid not null,
  position   integer not null,
  segment_id text not null, -- unit and place in it, as the document gives it
  source     jsonb not null,
  draft      jsonb,         -- null: the machine failed on it; `failure` says how
  route      text,
  notes      text[] not null default '{}',
  failure    text,
  primary key (part, account_id, job_id, position),
  foreign key (part, account_id, job_id) references jobs (part, account_id, job_id),
  check ((draft is null) = (failure is not null))
);

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

-- One row a transfer: it debits one ledger account and credits another, so it balances by construction.
create table transfers (
  part         smallint not null,
  account_id   uuid not null,
  transfer_id  uuid not null,
  environment  text not null check (environment in ('production', 'sandbox')),
  job_id       uuid,
  kind         text not null,
  debit        text not null,
  credit       text not null,
  amount_cents bigint not null check (amount_cents > 0),
  memo         text,
  created_at   timestamptz not null default now(),
  primary key (part, account_id, transfer_id),
  foreign key (part, account_id, job_id) references jobs (part, account_id, job_id),
  check ((kind, debit, credit) in (
    ('top_up',  'funding',   'available'),
    ('hold',    'available', 'held'),
    ('capture', 'held',      'revenue'),
    ('void',    'held',      'available'))),
  check ((kind = 'top_up') = (job_id is null))
);
-- Nothing is charged twice: one hold a job, and one end of it.
create unique index transfers_hold on transfers (part, account_id, job_id) where kind = 'hold';
create unique index transfers_end on transfers (part, account_id, job_id) where kind in ('capture', 'void');

create table deliveries (
  part         smallint not null,
  account_id   uuid not null,
  delivery_id  uuid not null,
  environment  text not null check (environment in ('production', 'sandbox')),
  job_id       uuid not null,
  event        text not null check (event in ('job.completed', 'job.failed')),
  url          text not null,
  content_type text not null,
  body         bytea not null, -- stored once, sent unchanged by every attempt
  status       text not null default 'pending' check (status in ('pending', 'delivered', 'dead')),
  failure      text,
  created_at   timestamptz not null default now(),
  finished_at  timestamptz,
  due_at       timestamptz default now(),
  attempts     integer not null default 0,
  lease_token  uuid,
  primary key (part, account_id, delivery_id),
  foreign key (part, account_id, job_id) references jobs (part, account_id, job_id),
  check ((status = 'pending') = (due_at is not null)),
  check (lease_token is null or due_at is not null)
);
create index deliveries_due on deliveries (part, account_id, due_at) where due_at is not null;

create table attempts (
  part         smallint not null,
  account_id   uuid not null,
  delivery_id  uuid not null,
  attempt      integer not null,
  started_at   timestamptz not null default now(), -- the row is written before the attempt
  finished_at  timestamptz,
  outcome      text,
  status_code  smallint,
  milliseconds integer,
  primary key (part, account_id, delivery_id, attempt),
  foreign key (part, account_id, delivery_id) references deliveries (part, account_id, delivery_id)
);

-- The application's role. Append-only tables are so by privilege.
grant usage on schema public to dragoman_app;
grant select on all tables in schema public to dragoman_app;
grant insert, update on accounts, keys, webhook_secrets, balances, jobs, job_texts, segments, deliveries, attempts
  to dragoman_app;
grant insert, update, delete on pairs to dragoman_app;
grant delete on segments to dragoman_app;
grant insert on transfers, job_events to dragoman_app;
