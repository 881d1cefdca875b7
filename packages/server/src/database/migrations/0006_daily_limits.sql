-- The most that a key may order in a day (UTC), and what it ordered on its latest such day. Null: no limit.
alter table keys
  add column daily_cents bigint check (daily_cents > 0),
  add column ordered_on date,
  add column ordered_cents bigint not null default 0,
  add constraint keys_daily_limit check (ordered_cents <= daily_cents),
  drop constraint keys_scopes_check,
  add constraint keys_scopes_check
    check (scopes <@ array['jobs', 'machine', 'chat', 'deliveries', 'account'] and cardinality(scopes) > 0);
