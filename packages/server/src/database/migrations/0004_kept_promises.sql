-- First, because the change of the table below locks out its reads until the migration ends.
-- Entries with more codes than a unit of a document may have: each request that found one read all of its codes. No import
-- takes them any more. Without a sketch, a restored entry is not compared with similar texts.
update memory m
   set withdrawn_at = now(), withdrawn_by = 'program', sketch = '{}',
       withdraw_reason = 'The segment has more than 500 codes, which is the maximum.'
 where withdrawn_at is null and greatest(jsonb_array_length(source), jsonb_array_length(target)) > 500
   and exists (
     select from (values (m.source), (m.target)) t (pieces)
      where (select count(*) from jsonb_array_elements(t.pieces) p where not (p ? 'text') or p ? 'keep') > 500);

-- The tone of the job's brand when its tasks were opened: the job belongs to it, also if the brand changes later. '': none;
-- null: the tasks were opened before this column existed.
alter table edited_jobs add column brand_tone text;
