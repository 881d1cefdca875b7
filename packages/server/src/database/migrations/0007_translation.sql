-- Which engines serve what, and the translation memory.

-- Rules of the operator, read by every worker: a reference table. A null account or brand is all of them.
create table routes (
  source_language text collate "C" not null,
  target_language text collate "C" not null,
  tier            text not null check (tier in ('*', 'human', 'machine', 'chat')),
  account_id      uuid references accounts,
  brand           text,
  engines         text[] not null check (cardinality(engines) > 0),
  check (brand is null or account_id is not null),
  unique nulls not distinct (source_language, target_language, tier, account_id, brand)
);

-- What was translated before, whole segments. `source_hash` is of the source as `memory/memory.ts` writes it.
create table memory (
  part            smallint not null,
  account_id      uuid not null,
  memory_id       uuid not null,
  brand           text not null default '', -- '': every brand
  source_language text not null,
  target_language text not null,
  source_hash     bytea not null,
  source          jsonb not null,
  target          jsonb not null,
  origin          text not null check (origin in ('import', 'job')),
  weight          smallint not null default 1 check (weight >= 0), -- the heaviest of several wins
  created_at      timestamptz not null default now(),
  primary key (part, account_id, memory_id),
  unique (part, account_id, source_language, target_language, source_hash, brand),
  foreign key (part, account_id) references accounts (part, account_id)
);

grant select on routes, memory to dragoman_app;
grant insert, update, delete on routes, memory to dragoman_app;
