-- A lesson begins when an editor confirms a segment. `not valid`: all present lessons hold the narrower condition.
alter table memory_lessons
  drop constraint memory_lessons_outcome_check,
  add constraint memory_lessons_outcome_check
    check (outcome in ('confirmed', 'delivered', 'reviewed', 'accepted', 'rejected')) not valid;
create index memory_lessons_confirmed on memory_lessons (part, account_id, job_id) where outcome = 'confirmed';

-- Whether the entry comes from a file or from a job that was delivered. Customers see no other entries, because they may
-- cancel the job and pay nothing.
alter table memory add column delivered boolean not null default true;
create index memory_undelivered on memory (part, account_id, memory_id) where not delivered;
