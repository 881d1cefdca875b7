-- The parts of the API that a key may use. Existing keys may use every part.
alter table keys add column scopes text[]  -- null: every scope, including those that later versions add
  check (scopes <@ array['jobs', 'chat', 'deliveries', 'account'] and cardinality(scopes) > 0);
