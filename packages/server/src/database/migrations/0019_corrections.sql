-- Chat: a person corrects what a machine has answered, after it was delivered.

alter table accounts add column chat_correction boolean not null default false;

-- The work on a correction is a job of its own, which its customer never sees as one.
alter table jobs drop constraint jobs_tier_check,
  add constraint jobs_tier_check check (tier in ('human', 'machine', 'chat'));
alter table job_counts drop constraint job_counts_tier_check,
  add constraint job_counts_tier_check check (tier in ('human', 'machine', 'chat'));

-- Messages that are to be corrected, from the moment of their delivery.
create table message_corrections (
  part         smallint not null,
  account_id   uuid not null,
  message_id   uuid not null,
  job_id       uuid, -- null: nobody has made one yet
  created_at   timestamptz not null default now(),
  finished_at  timestamptz,
  primary key (part, account_id, message_id),
  unique (part, account_id, job_id),
  foreign key (part, account_id, message_id) references messages (part, account_id, message_id),
  foreign key (part, account_id, job_id) references jobs (part, account_id, job_id)
);
create index message_corrections_due on message_corrections (created_at) where job_id is null;
alter table message_corrections alter part set (n_distinct = 1), alter part set statistics 1;

grant select, insert, update, delete on message_corrections to dragoman_app;
