-- The memory learns from people, is found by likeness, and can be taken back.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- One row is one translation of one source: another translation of it stands beside it, and the heaviest wins.
-- `sketch` finds what is alike, `searched` finds words; both as `memory/form.ts` and `memory/sketch.ts` write them.
-- What was there before is found to the letter as it was; once it is brought in again, it is found by likeness too.
alter table memory
  add column target_hash   bytea not null default '',
  add column sketch        integer[] not null default '{}',
  add column searched      text not null default '',
  add column changed_at    timestamptz not null default now(),
  add column retracted_at  timestamptz, -- by a person, until a person takes that back
  add column retracted_by  text,
  add column retract_reason text,
  drop constraint memory_part_account_id_source_language_target_language_sour_key,
  add constraint memory_translation unique (part, account_id, source_language, target_language, source_hash, brand,
    target_hash),
  add constraint memory_retracted check ((retracted_at is null) = (retracted_by is null));
-- The values of a sketch are salted with their account and pair: those of others are never met in it.
-- Without the list of what is still to be sorted in, through which every search would have to read (measured: 20 ms).
create index memory_alike on memory using gin (sketch) with (fastupdate = off);
create index memory_searched on memory using gin (account_id, searched gin_trgm_ops);

-- What a job taught: who said so of which segment, between which neighbours, and how it was received. The weight of an
-- entry is that of its best lesson.
create table memory_lessons (
  part         smallint not null,
  account_id   uuid not null,
  job_id       uuid not null,
  position     integer not null,
  memory_id    uuid not null,
  editor_id    uuid,
  outcome      text not null check (outcome in ('delivered', 'reviewed', 'accepted', 'rejected')),
  context_hash bytea, -- of both neighbours; null where a segment has none
  created_at   timestamptz not null default now(),
  primary key (part, account_id, job_id, position),
  foreign key (part, account_id, memory_id) references memory (part, account_id, memory_id) on delete cascade
);
create index memory_lessons_of_entry on memory_lessons (part, account_id, memory_id, context_hash);

-- Where an entry came to be used: put into a draft by the machine, or taken by an editor.
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

alter table memory_lessons alter part set (n_distinct = 1), alter part set statistics 1;
alter table memory_uses alter part set (n_distinct = 1), alter part set statistics 1;

grant select, insert, update, delete on memory_lessons, memory_uses to dragoman_app;
