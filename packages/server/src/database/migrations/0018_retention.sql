-- How long an account's data is kept, and what becomes of it afterwards.
--
-- Days; null is for ever. `texts_forgotten_to`: messages up to this one have lost their texts.
alter table accounts
  add column keep_attempts_days integer check (keep_attempts_days between 1 and 36500),
  add column keep_events_days   integer check (keep_events_days between 1 and 36500),
  add column keep_texts_days    integer check (keep_texts_days between 1 and 36500),
  add column texts_forgotten_to uuid,
  add column erased_at          timestamptz;

-- What was written once and never again is still never changed; it ends with its time, or with its account. Transfers
-- and the audit stay.
grant delete on attempts, deliveries, events, feeds, job_texts, chats, messages, keys, webhook_secrets, edited_jobs, tasks,
  claims, edits, edit_history, task_skips, task_reports, comments, money_requests to dragoman_app;
grant update (detail) on job_events to dragoman_app;
grant update (note) on issues to dragoman_app;
