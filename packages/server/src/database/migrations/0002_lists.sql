-- Lists that stay flat, creates that may be sent again without a uid, and a second charge of one job.
-- Which index costs what, and why these: docs/decisions/0007-lists.md.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- How many jobs there are, by all that a list can be filtered by. A row says how many came or went: every
-- transaction that makes or moves jobs adds its own and waits for nobody (one hot row an account would be waited
-- for through every commit). A timer of the worker puts the rows of an account together; the sum is always exact.
create table job_counts (
  part            smallint not null,
  account_id      uuid not null,
  count_id        bigint generated always as identity,
  environment     text not null check (environment in ('production', 'sandbox')),
  tier            text not null check (tier in ('human', 'machine')),
  status          text not null check (status in ('new', 'machine_translate_in_progress', 'translating',
                    'completed', 'failed', 'canceled', 'accepted', 'rejected')),
  source_language text not null,
  target_language text not null,
  jobs            bigint not null,
  folded          boolean not null default false,
  primary key (part, account_id, count_id)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index job_counts_unfolded on job_counts (part, account_id) where not folded;

insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs, folded)
select part, account_id, environment, tier, status, source_language, target_language, count(*), true
  from jobs group by part, account_id, environment, tier, status, source_language, target_language;

-- What is inside of a uid, or at its end. Jobs that are done are most of all jobs, and lists in order find them at
-- once: the others have an index by status.
create index jobs_uid_trigrams on jobs using gin (part, account_id, uid gin_trgm_ops);
create index jobs_by_status on jobs (part, account_id, environment, tier, status, job_id)
  where status not in ('completed', 'accepted');

-- A key of the caller's choice for a create without a uid: the same key and body again is the same job.
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

-- A machine job that goes on to a human is charged anew: its first charge stays as it ended.
alter table jobs add column charge smallint not null default 1 check (charge > 0);
alter table jobs add column upgrade_hash bytea; -- of the upgrading request: tells its retry from another
alter table transfers add column charge smallint not null default 1 check (charge > 0);
-- Nothing is charged twice: one hold a charge, and one end of it.
drop index transfers_hold;
drop index transfers_end;
create unique index transfers_hold on transfers (part, account_id, job_id, charge) where kind = 'hold';
create unique index transfers_end on transfers (part, account_id, job_id, charge) where kind in ('capture', 'void');

grant select, insert, delete on job_counts to dragoman_app;
grant select, insert, update, delete on idempotency to dragoman_app;
