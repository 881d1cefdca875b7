-- Segments that no engine can translate keep their source text in the result, and are not charged.

-- A charge has at most one release. The index is created first, because the changes of tables below lock out reads until
-- the migration ends, and the index reads all transfers.
create unique index transfers_release on transfers (part, account_id, job_id, charge) where kind = 'release';

-- In the result of a job: the number of `segments` that kept their source text, their `words`, how many of these are in
-- repeated segments (`repeated`), and the number of segments by the `reasons` of their failures. Null: none.
alter table jobs add column untranslated jsonb;
-- The number of such segments in a translated message. Null: none.
alter table messages add column untranslated integer;

-- The part of a hold that is not charged, because its words were not translated. It is released when the rest is captured.
-- Older rows satisfy the replaced constraint, so the new one need not read them.
alter table transfers drop constraint transfers_kind;
alter table transfers add constraint transfers_kind check ((kind, debit, credit) in (
  ('top_up',     'funding',   'available'),
  ('adjustment', 'funding',   'available'),
  ('adjustment', 'available', 'funding'),
  ('hold',       'available', 'held'),
  ('capture',    'held',      'revenue'),
  ('release',    'held',      'available'),
  ('void',       'held',      'available'),
  ('refund',     'revenue',   'available'))) not valid;
