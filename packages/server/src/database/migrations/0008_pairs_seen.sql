-- A pair is offered for as long as some worker says so now and then; `checked_at` is when it was last tested.
alter table pairs add seen_at timestamptz not null default now();
