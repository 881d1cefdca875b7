-- The limit of requests that an operator sets for an account.
alter table accounts add column key_requests integer  -- a second, for each key; 0: no limit; null: the setting
  check (key_requests between 0 and 100000);
