-- Events and their feed; deliveries of any event, in order; a breaker a host; a log of attempts to read.

-- What happened, whoever was told of it. `position` is its place in the feed: given after the commit, when a
-- reader first asks, so that no reader can have passed it (deliveries/feed.ts). Nothing else of it changes.
create table events (
  part        smallint not null,
  account_id  uuid not null,
  event_id    uuid not null, -- also the id of its delivery, where it has one
  environment text not null check (environment in ('production', 'sandbox')),
  type        text not null constraint events_type check (type in ('job.completed', 'job.failed', 'job.canceled',
                'message.translated', 'message.failed', 'message.corrected', 'test')),
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

create table feeds (
  part          smallint not null,
  account_id    uuid not null,
  environment   text not null check (environment in ('production', 'sandbox')),
  last_position bigint not null default 0,
  primary key (part, account_id, environment)
);

insert into events (part, account_id, event_id, environment, type, job_id, created_at)
select part, account_id, delivery_id, environment, event, job_id, created_at from deliveries;

-- `queued_at` orders the deliveries of one `order_key` (a job or a chat) and starts their 72 hours; a replay
-- sets it anew. By the clock of the moment, not of the transaction: of two that wait for one row, the later
-- writes later.
alter table deliveries
  alter column job_id drop not null,
  alter column created_at set default clock_timestamp(),
  add column chat_id    uuid,
  add column message_id uuid,
  add column order_key  uuid,
  add column queued_at  timestamptz not null default clock_timestamp(),
  add column host       text collate "C" not null default '',
  add column attempts_before integer not null default 0, -- those before the last replay: the schedule begins anew
  add column headers    jsonb not null default '{}', -- of its own, beside those of the signature
  drop constraint deliveries_event_check,
  add constraint deliveries_event check (event in ('job.completed', 'job.failed',
    'message.translated', 'message.failed', 'message.corrected', 'test')),
  add constraint deliveries_subject check (num_nonnulls(job_id, message_id) <= 1
    and (chat_id is null) = (message_id is null)),
  add constraint deliveries_failure check (failure in ('gone', 'out of time'));
update deliveries
   set order_key = job_id, queued_at = created_at, host = coalesce(lower(substring(url from '://([^/?#]+)')), '');

-- The sender's queue has a lane for each account and host.
drop index deliveries_due;
create index deliveries_due on deliveries (part, account_id, host, due_at) where due_at is not null;
create index deliveries_in_order on deliveries (part, account_id, order_key, queued_at, delivery_id)
  where status = 'pending' and order_key is not null;
create index deliveries_dead on deliveries (part, account_id, environment, delivery_id) where status = 'dead';

-- A host that an account's deliveries failed at: failures in a row, and how often its breaker has opened since it
-- last answered. A host that answers has no row.
create table breakers (
  part       smallint not null,
  account_id uuid not null,
  host       text collate "C" not null,
  failures   integer not null check (failures > 0),
  openings   integer not null default 0 check (openings >= 0),
  open_until timestamptz, -- nothing is sent before; then one delivery at a time
  primary key (part, account_id, host)
);

alter table attempts
  add column detail          text,  -- one sentence of ours
  add column headers         jsonb, -- of the answer, cut
  add column answer          text,  -- its first 4 KiB, what is not UTF-8 replaced
  add column answer_complete boolean,
  add constraint attempts_outcome check (outcome in ('answered', 'timeout', 'refused address', 'connect', 'reset',
    'tls', 'other'));

grant select on events, feeds, breakers to dragoman_app;
grant insert on events to dragoman_app;
grant update (position) on events to dragoman_app;
grant insert, update on feeds, breakers to dragoman_app;
grant delete on breakers to dragoman_app;
