-- The tone of the job's brand when its tasks were opened: the job belongs to it, also if the brand changes later. '': none;
-- null: the tasks were opened before this column existed.
alter table edited_jobs add column brand_tone text;
