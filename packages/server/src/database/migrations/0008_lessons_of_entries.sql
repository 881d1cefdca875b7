-- The confirmed lessons of an entry are read whenever editors look for matches; those of a job have the primary key.
drop index memory_lessons_confirmed;
create index memory_lessons_confirmed on memory_lessons (part, account_id, memory_id) where outcome = 'confirmed';
