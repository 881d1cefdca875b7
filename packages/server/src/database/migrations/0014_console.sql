-- What the operator's console keeps: drafts of brands, one answer for each request about money, the period of a chat
-- subscription, and the engines as the workers see them.

-- Counts the publications of a brand, from the console or from a file.
alter table brands add column version integer not null default 1 check (version > 0);

-- What a brand is to become. Nobody translates by it before it is published.
create table brand_drafts (
  part smallint not null,
  account_id uuid not null,
  external_id text collate "C" not null check (char_length(external_id) between 1 and 128),
  revision integer not null default 1 check (revision > 0),
  -- The version of the published brand that it began as; null: there was none.
  based_on integer check (based_on > 0),
  -- As a brand's file has it.
  brand jsonb not null,
  changed_at timestamptz not null default now(),
  changed_by text not null,
  primary key (part, account_id, external_id),
  foreign key (part, account_id) references accounts (part, account_id)
);
alter table brand_drafts alter column part set (n_distinct = 1), alter column part set statistics 1;
grant select, insert, update, delete on brand_drafts to dragoman_app;

-- A request about money that is sent again gets the answer of the first.
create table money_requests (
  part smallint not null,
  account_id uuid not null,
  key text collate "C" not null check (length(key) between 1 and 255),
  request_hash bytea not null,
  answer jsonb,
  created_at timestamptz not null default now(),
  primary key (part, account_id, key),
  foreign key (part, account_id) references accounts (part, account_id)
);
alter table money_requests alter column part set (n_distinct = 1), alter column part set statistics 1;
grant select, insert, update on money_requests to dragoman_app;

-- A subscription holds from its first moment to before its last; null: it has no such end.
alter table accounts add column chat_from timestamptz, add column chat_until timestamptz,
  add constraint accounts_chat_period check (chat_until > chat_from);

-- Orders are numbered as they come, and so lie in order: a job is found by its number without another index to keep.
create index jobs_order_number on jobs using brin (order_number) with (pages_per_range = 16, autosummarize = on);

-- An engine as a worker sees it. A worker that is not heard of for a while is gone.
create table engine_states (
  worker_id uuid not null,
  engine text collate "C" not null,
  state text not null check (state in ('closed', 'half-open', 'open')),
  -- Since when; a console says how long an engine has been away.
  state_since timestamptz not null,
  waiting integer not null check (waiting >= 0),
  version text,
  -- The latest failures: when, and the reason of a closed list.
  errors jsonb not null,
  seen_at timestamptz not null default now(),
  primary key (worker_id, engine)
);
grant select, insert, update, delete on engine_states to dragoman_app;

-- What was asked of an engine in a minute, by one worker.
create table engine_minutes (
  engine text collate "C" not null,
  minute timestamptz not null,
  worker_id uuid not null,
  answered integer not null check (answered >= 0),
  failed integer not null check (failed >= 0),
  -- Of all its requests together, and of the slowest one.
  milliseconds bigint not null check (milliseconds >= 0),
  slowest integer not null check (slowest >= 0),
  primary key (engine, minute, worker_id)
);
grant select, insert, update, delete on engine_minutes to dragoman_app;

-- A sentence that an operator has translated by an engine, to see whether it works. A worker that has the engine takes it.
create table engine_tests (
  test_id uuid primary key,
  engine text collate "C" not null,
  source_language text not null,
  target_language text not null,
  body text not null check (char_length(body) between 1 and 2000),
  created_at timestamptz not null default now(),
  claimed_at timestamptz,
  answer jsonb
);
grant select, insert, update, delete on engine_tests to dragoman_app;
