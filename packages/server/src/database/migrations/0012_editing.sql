-- Editing: tasks, who has them, and what editors make of the segments.
--
-- What an editor writes stands in `edits`, not in `segments`: those are a machine's, written in bulk and anew when a
-- dead worker's job is drafted again; an edit is small, saved every second somebody types, and never written over by
-- a machine. A segment without a row here is open.

-- One row a job that people work on: it is what concurrent submits, cancels and fallbacks wait for each other at, and
-- its own queue entry (`due_at`: its deadline, or at once where its result is to be put together).
create table edited_jobs (
  part        smallint not null,
  account_id  uuid not null,
  job_id      uuid not null,
  stage       text not null check (stage in ('editing', 'review', 'assembling', 'done', 'canceled')),
  revision    integer not null default 1 check (revision >= 1), -- one more after each rejection
  words       integer not null check (words >= 0),
  fallback    text not null check (fallback in ('wait', 'machine')),
  created_at  timestamptz not null default now(),
  deadline_at timestamptz not null,
  due_at      timestamptz,
  finished_at timestamptz,
  primary key (part, account_id, job_id),
  foreign key (part, account_id, job_id) references jobs (part, account_id, job_id),
  check (stage in ('editing', 'review', 'assembling') or due_at is null)
);
create index edited_jobs_due on edited_jobs (due_at) where due_at is not null;

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
  source_language text collate "C" not null, -- of the job, for the queue
  target_language text collate "C" not null,
  priority        smallint not null default 0 check (priority between -10 and 10),
  deadline_at     timestamptz not null,
  editor_id       uuid, -- who has it, or had it last
  reserved_for    uuid, -- came back: for some hours this editor has it before others
  reserved_until  timestamptz,
  returned        boolean not null default false,
  created_at      timestamptz not null default now(),
  changed_at      timestamptz not null default now(),
  primary key (part, account_id, task_id),
  foreign key (part, account_id, job_id) references edited_jobs (part, account_id, job_id),
  check ((reserved_for is null) = (reserved_until is null)),
  check (status <> 'claimed' or editor_id is not null)
) with (fillfactor = 85);
-- No two tasks begin at one segment, and a job has one review at a time.
create unique index tasks_of_job on tasks (part, account_id, job_id, kind, first_position) where status <> 'canceled';
create index tasks_open on tasks (source_language, target_language, kind, part, account_id, priority desc, deadline_at,
  task_id) where status = 'open';
create index tasks_unfinished on tasks (source_language, target_language, kind, status)
  where status in ('open', 'claimed', 'submitted', 'reported');
create index tasks_by_id on tasks (task_id); -- an editor names a task alone

-- A claim is a lease; its id is the fencing token.
create table claims (
  part        smallint not null,
  account_id  uuid not null,
  claim_id    uuid not null,
  task_id     uuid not null,
  job_id      uuid not null,
  kind        text not null check (kind in ('edit', 'review')),
  user_id     uuid not null,
  claimed_at  timestamptz not null default now(),
  lease_until timestamptz not null,
  limit_until timestamptz not null,
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
-- One editor a task.
create unique index claims_held on claims (part, account_id, task_id) where ended_at is null;
create index claims_of_job on claims (part, account_id, job_id);
create index claims_running_out on claims (least(lease_until, limit_until)) where ended_at is null;
create index claims_of_user on claims (user_id, ended_at);

-- How many tasks an editor may have at a time, whosoever they are: a claim takes one of the editor's slots. A small
-- table apart, since no unique key goes across parts.
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
  distance     integer not null default 0 check (distance >= 0), -- characters changed of the draft
  words        integer not null default 0 check (words >= 0),    -- of the source, once it is confirmed
  acknowledged text[] not null default '{}',
  filled_from  integer, -- took the target of this segment, and nobody has touched it
  changed_at   timestamptz not null default now(),
  confirmed_at timestamptz,
  primary key (part, account_id, job_id, position),
  foreign key (part, account_id, job_id, position) references segments (part, account_id, job_id, position),
  check ((status = 'confirmed') = (confirmed_at is not null))
) with (fillfactor = 80);
create index edits_of_editor on edits (editor_id, confirmed_at) where confirmed_at is not null;

-- What a segment has been: every confirmed target, and what came after a claim had ended.
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
  foreign key (part, account_id, job_id) references edited_jobs (part, account_id, job_id)
);
create index edit_history_of_segment on edit_history (part, account_id, job_id, position);

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

-- Errors that a reviewer marked, by MQM.
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
  editor_id   uuid, -- whose target it is about
  task_id     uuid not null, -- the review
  created_at  timestamptz not null default now(),
  primary key (part, account_id, issue_id),
  foreign key (part, account_id, job_id, position) references segments (part, account_id, job_id, position),
  check ((range_start is null) = (range_end is null) and range_start <= range_end)
);
create index issues_of_job on issues (part, account_id, job_id);
create index issues_of_editor on issues (editor_id, created_at);

create table comments (
  part       smallint not null,
  account_id uuid not null,
  comment_id uuid not null,
  job_id     uuid not null,
  position   integer, -- null: about the job
  user_id    uuid,    -- null: the customer, by the interface for programs
  body       text not null check (char_length(body) between 1 and 2000),
  created_at timestamptz not null default now(),
  primary key (part, account_id, comment_id),
  foreign key (part, account_id, job_id) references edited_jobs (part, account_id, job_id)
);
create index comments_of_job on comments (part, account_id, job_id);

-- The first segment of the job that reads the same, where there is an earlier one: confirming one fills the others.
alter table segments add column repeats integer;
create index segments_repeated on segments (part, account_id, job_id, repeats) where repeats is not null;

-- What is delivered where no editor came in time.
alter table brands add column fallback text not null default 'wait' check (fallback in ('wait', 'machine'));
-- It was: a machine's result, not charged.
alter table jobs add column fell_back boolean not null default false;

grant select on edited_jobs, tasks, claims, editor_slots, edits, edit_history, task_skips, task_reports, issues, comments
  to dragoman_app;
grant insert, update on edited_jobs, tasks, claims, edits to dragoman_app;
grant insert, delete on editor_slots, issues to dragoman_app;
grant insert on edit_history, task_skips, task_reports, comments to dragoman_app;

do $$
declare
  one text;
begin
  foreach one in array array['edited_jobs', 'tasks', 'claims', 'editor_slots', 'edits', 'edit_history', 'task_skips',
    'task_reports', 'issues', 'comments']
  loop
    execute format('alter table %I alter column part set (n_distinct = 1)', one);
    execute format('alter table %I alter column part set statistics 1', one);
  end loop;
end
$$;
