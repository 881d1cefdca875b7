-- A lesson begins when an editor confirms a segment. Only editors see such an entry, until the job is delivered.
alter table memory_lessons
  drop constraint memory_lessons_outcome_check,
  add constraint memory_lessons_outcome_check
    check (outcome in ('confirmed', 'delivered', 'reviewed', 'accepted', 'rejected'));
