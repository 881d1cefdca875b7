-- The tone that an entry of the memory was confirmed under. Null: none was asked for, or it is not known (what was there
-- before, and files that do not say).
alter table memory add column tone text;
