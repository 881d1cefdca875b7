-- Who made a key. Null: the operator by command, the program, or it was made before this was kept.
alter table keys add column made_by uuid references users (user_id) on delete set null;
create index keys_of_maker on keys (made_by) where made_by is not null;
