-- Today's schema. Made by `npm run schema`; a test keeps it equal to the migrations.

create table accounts (
  account_id uuid not null,
  part smallint not null,
  username text collate "C" not null,
  email text,
  chat boolean not null default false,
  created_at timestamp with time zone not null default now(),
  default_brand text collate "C",
  chat_pairs text[],
  chat_from timestamp with time zone,
  chat_until timestamp with time zone,
  keep_attempts_days integer,
  keep_events_days integer,
  keep_texts_days integer,
  texts_forgotten_to uuid,
  erased_at timestamp with time zone,
  chat_correction boolean not null default false,
  erase_requested_at timestamp with time zone,
  constraint accounts_part_account_id_key UNIQUE (part, account_id),
  constraint accounts_username_key UNIQUE (username),
  constraint accounts_pkey PRIMARY KEY (account_id),
  constraint accounts_part_account_id_default_brand_fkey FOREIGN KEY (part, account_id, default_brand) REFERENCES brands(part, account_id, external_id) ON DELETE SET NULL (default_brand),
  constraint accounts_chat_period CHECK ((chat_until > chat_from)),
  constraint accounts_keep_attempts_days_check CHECK (((keep_attempts_days >= 1) AND (keep_attempts_days <= 36500))),
  constraint accounts_keep_events_days_check CHECK (((keep_events_days >= 1) AND (keep_events_days <= 36500))),
  constraint accounts_keep_texts_days_check CHECK (((keep_texts_days >= 1) AND (keep_texts_days <= 36500))),
  constraint accounts_part_check CHECK (((part >= 0) AND (part <= 255))),
  constraint accounts_username_check CHECK ((username ~ '^[A-Za-z0-9._@+-]{1,64}$'::text))
);
CREATE INDEX accounts_to_erase ON accounts USING btree (erase_requested_at) WHERE ((erase_requested_at IS NOT NULL) AND (erased_at IS NULL));
grant insert, select, update on accounts to dragoman_app;

create table attempts (
  part smallint not null,
  account_id uuid not null,
  delivery_id uuid not null,
  attempt integer not null,
  started_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  outcome text,
  status_code smallint,
  milliseconds integer,
  detail text,
  headers jsonb,
  answer text,
  answer_complete boolean,
  constraint attempts_pkey PRIMARY KEY (part, account_id, delivery_id, attempt),
  constraint attempts_part_account_id_delivery_id_fkey FOREIGN KEY (part, account_id, delivery_id) REFERENCES deliveries(part, account_id, delivery_id),
  constraint attempts_outcome CHECK ((outcome = ANY (ARRAY['answered'::text, 'timeout'::text, 'refused address'::text, 'connect'::text, 'reset'::text, 'tls'::text, 'other'::text])))
);
grant delete, insert, select, update on attempts to dragoman_app;

create table audit (
  audit_id uuid not null,
  at timestamp with time zone not null default now(),
  actor text not null,
  user_id uuid,
  name text not null,
  action text collate "C" not null,
  part smallint,
  account_id uuid,
  subject text not null,
  detail jsonb not null,
  constraint audit_pkey PRIMARY KEY (audit_id),
  constraint audit_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(user_id) ON DELETE SET NULL,
  constraint audit_action_check CHECK ((action ~ '^[a-z_]+\.[a-z_]+$'::text)),
  constraint audit_actor_check CHECK ((actor = ANY (ARRAY['person'::text, 'command'::text, 'program'::text]))),
  constraint audit_check CHECK (((part IS NULL) = (account_id IS NULL))),
  constraint audit_check1 CHECK (((actor = 'person'::text) OR (user_id IS NULL))),
  constraint audit_name_check CHECK ((char_length(name) <= 254)),
  constraint audit_subject_check CHECK ((char_length(subject) <= 300))
);
CREATE INDEX audit_of_account ON audit USING btree (part, account_id, audit_id);
CREATE INDEX audit_of_action ON audit USING btree (action, audit_id);
grant insert, select on audit to dragoman_app;

create table balances (
  part smallint not null,
  account_id uuid not null,
  environment text not null,
  available_cents bigint not null default 0,
  credit_limit_cents bigint,
  constraint balances_pkey PRIMARY KEY (part, account_id, environment),
  constraint balances_part_account_id_fkey FOREIGN KEY (part, account_id) REFERENCES accounts(part, account_id),
  constraint balances_credit_limit CHECK ((available_cents >= (- credit_limit_cents))),
  constraint balances_credit_limit_cents_check CHECK ((credit_limit_cents >= 0)),
  constraint balances_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text])))
);
grant insert, select, update on balances to dragoman_app;

create table brand_drafts (
  part smallint not null,
  account_id uuid not null,
  external_id text collate "C" not null,
  revision integer not null default 1,
  based_on integer,
  brand jsonb not null,
  changed_at timestamp with time zone not null default now(),
  changed_by text not null,
  constraint brand_drafts_pkey PRIMARY KEY (part, account_id, external_id),
  constraint brand_drafts_part_account_id_fkey FOREIGN KEY (part, account_id) REFERENCES accounts(part, account_id),
  constraint brand_drafts_based_on_check CHECK ((based_on > 0)),
  constraint brand_drafts_external_id_check CHECK (((char_length(external_id) >= 1) AND (char_length(external_id) <= 128))),
  constraint brand_drafts_revision_check CHECK ((revision > 0))
);
grant delete, insert, select, update on brand_drafts to dragoman_app;

create table brand_languages (
  part smallint not null,
  account_id uuid not null,
  external_id text collate "C" not null,
  language text collate "C" not null,
  tone text,
  instructions text,
  constraint brand_languages_pkey PRIMARY KEY (part, account_id, external_id, language),
  constraint brand_languages_part_account_id_external_id_fkey FOREIGN KEY (part, account_id, external_id) REFERENCES brands(part, account_id, external_id) ON DELETE CASCADE,
  constraint brand_languages_instructions_check CHECK (((char_length(instructions) >= 1) AND (char_length(instructions) <= 10000))),
  constraint brand_languages_language_check CHECK ((language ~ '^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$'::text)),
  constraint brand_languages_tone_check CHECK ((tone = ANY (ARRAY['Informal'::text, 'Formal'::text])))
);
grant delete, insert, select, update on brand_languages to dragoman_app;

create table brands (
  part smallint not null,
  account_id uuid not null,
  external_id text collate "C" not null,
  name text not null,
  created_at timestamp with time zone not null default now(),
  changed_at timestamp with time zone not null default now(),
  fallback text not null default 'wait'::text,
  version integer not null default 1,
  constraint brands_pkey PRIMARY KEY (part, account_id, external_id),
  constraint brands_part_account_id_fkey FOREIGN KEY (part, account_id) REFERENCES accounts(part, account_id),
  constraint brands_external_id_check CHECK (((char_length(external_id) >= 1) AND (char_length(external_id) <= 128))),
  constraint brands_fallback_check CHECK ((fallback = ANY (ARRAY['wait'::text, 'machine'::text]))),
  constraint brands_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
  constraint brands_version_check CHECK ((version > 0))
);
grant delete, insert, select, update on brands to dragoman_app;

create table breakers (
  part smallint not null,
  account_id uuid not null,
  host text collate "C" not null,
  failures integer not null,
  openings integer not null default 0,
  open_until timestamp with time zone,
  constraint breakers_pkey PRIMARY KEY (part, account_id, host),
  constraint breakers_failures_check CHECK ((failures > 0)),
  constraint breakers_openings_check CHECK ((openings >= 0))
);
grant delete, insert, select, update on breakers to dragoman_app;

create table chats (
  part smallint not null,
  account_id uuid not null,
  chat_id uuid not null,
  environment text not null,
  external_id text collate "C" not null,
  agent_external_id text,
  brand text,
  created_at timestamp with time zone not null default now(),
  last_position integer not null default 0,
  answered_position integer not null default 0,
  constraint chats_part_account_id_environment_external_id_key UNIQUE (part, account_id, environment, external_id),
  constraint chats_pkey PRIMARY KEY (part, account_id, chat_id),
  constraint chats_check CHECK (((answered_position >= 0) AND (answered_position <= last_position))),
  constraint chats_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text])))
);
grant delete, insert, select, update on chats to dragoman_app;

create table claims (
  part smallint not null,
  account_id uuid not null,
  claim_id uuid not null,
  task_id uuid not null,
  job_id uuid not null,
  kind text not null,
  user_id uuid not null,
  claimed_at timestamp with time zone not null default now(),
  lease_until timestamp with time zone not null,
  limit_until timestamp with time zone not null,
  extended boolean not null default false,
  saves integer not null default 0,
  active_ms bigint not null default 0,
  ended_at timestamp with time zone,
  ended text,
  constraint claims_pkey PRIMARY KEY (part, account_id, claim_id),
  constraint claims_part_account_id_task_id_fkey FOREIGN KEY (part, account_id, task_id) REFERENCES tasks(part, account_id, task_id),
  constraint claims_check CHECK (((ended_at IS NULL) = (ended IS NULL))),
  constraint claims_ended_check CHECK ((ended = ANY (ARRAY['submitted'::text, 'returned'::text, 'released'::text, 'lease_expired'::text, 'limit_expired'::text, 'skipped'::text, 'reported'::text, 'canceled'::text, 'reassigned'::text]))),
  constraint claims_kind_check CHECK ((kind = ANY (ARRAY['edit'::text, 'review'::text])))
);
CREATE INDEX claims_of_job ON claims USING btree (part, account_id, job_id);
CREATE INDEX claims_of_user ON claims USING btree (user_id, ended_at);
CREATE INDEX claims_running_out ON claims USING btree (LEAST(lease_until, limit_until)) WHERE (ended_at IS NULL);
CREATE UNIQUE INDEX claims_held ON claims USING btree (part, account_id, task_id) WHERE (ended_at IS NULL);
grant delete, insert, select, update on claims to dragoman_app;

create table comments (
  part smallint not null,
  account_id uuid not null,
  comment_id uuid not null,
  job_id uuid not null,
  position integer,
  user_id uuid,
  body text not null,
  created_at timestamp with time zone not null default now(),
  constraint comments_pkey PRIMARY KEY (part, account_id, comment_id),
  constraint comments_part_account_id_job_id_fkey FOREIGN KEY (part, account_id, job_id) REFERENCES edited_jobs(part, account_id, job_id),
  constraint comments_body_check CHECK (((char_length(body) >= 1) AND (char_length(body) <= 2000)))
);
CREATE INDEX comments_of_job ON comments USING btree (part, account_id, job_id);
grant delete, insert, select on comments to dragoman_app;

create table creations (
  creation_id uuid not null,
  accounts uuid[] not null,
  from_milliseconds bigint not null,
  begun_at timestamp with time zone not null default now(),
  constraint creations_pkey PRIMARY KEY (creation_id)
);
grant delete, insert, select, update on creations to dragoman_app;

create table deliveries (
  part smallint not null,
  account_id uuid not null,
  delivery_id uuid not null,
  environment text not null,
  job_id uuid,
  event text not null,
  url text not null,
  content_type text not null,
  body bytea not null,
  status text not null default 'pending'::text,
  failure text,
  created_at timestamp with time zone not null default clock_timestamp(),
  finished_at timestamp with time zone,
  due_at timestamp with time zone default now(),
  attempts integer not null default 0,
  lease_token uuid,
  chat_id uuid,
  message_id uuid,
  order_key uuid,
  queued_at timestamp with time zone not null default clock_timestamp(),
  host text collate "C" not null default ''::text,
  attempts_before integer not null default 0,
  headers jsonb not null default '{}'::jsonb,
  constraint deliveries_pkey PRIMARY KEY (part, account_id, delivery_id),
  constraint deliveries_part_account_id_job_id_fkey FOREIGN KEY (part, account_id, job_id) REFERENCES jobs(part, account_id, job_id),
  constraint deliveries_check CHECK (((status = 'pending'::text) = (due_at IS NOT NULL))),
  constraint deliveries_check1 CHECK (((lease_token IS NULL) OR (due_at IS NOT NULL))),
  constraint deliveries_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
  constraint deliveries_event CHECK ((event = ANY (ARRAY['job.completed'::text, 'job.failed'::text, 'message.translated'::text, 'message.failed'::text, 'message.corrected'::text, 'test'::text]))),
  constraint deliveries_failure CHECK ((failure = ANY (ARRAY['gone'::text, 'out of time'::text]))),
  constraint deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'dead'::text]))),
  constraint deliveries_subject CHECK (((num_nonnulls(job_id, message_id) <= 1) AND ((chat_id IS NULL) = (message_id IS NULL))))
);
CREATE INDEX deliveries_dead ON deliveries USING btree (part, account_id, environment, delivery_id) WHERE (status = 'dead'::text);
CREATE INDEX deliveries_due ON deliveries USING btree (part, account_id, host, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX deliveries_in_order ON deliveries USING btree (part, account_id, order_key, queued_at, delivery_id) WHERE ((status = 'pending'::text) AND (order_key IS NOT NULL));
grant delete, insert, select, update on deliveries to dragoman_app;

create table disabled_pairs (
  source_language text collate "C" not null,
  target_language text collate "C" not null,
  disabled_at timestamp with time zone not null default now(),
  constraint disabled_pairs_pkey PRIMARY KEY (source_language, target_language)
);
grant delete, insert, select, update on disabled_pairs to dragoman_app;

create table edit_history (
  part smallint not null,
  account_id uuid not null,
  history_id uuid not null,
  job_id uuid not null,
  position integer not null,
  kind text not null,
  target jsonb not null,
  revision integer not null,
  editor_id uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint edit_history_pkey PRIMARY KEY (part, account_id, history_id),
  constraint edit_history_part_account_id_job_id_fkey FOREIGN KEY (part, account_id, job_id) REFERENCES edited_jobs(part, account_id, job_id),
  constraint edit_history_part_account_id_job_id_position_fkey FOREIGN KEY (part, account_id, job_id, "position") REFERENCES segments(part, account_id, job_id, "position") ON DELETE CASCADE,
  constraint edit_history_kind_check CHECK ((kind = ANY (ARRAY['confirmed'::text, 'left'::text])))
);
CREATE INDEX edit_history_of_segment ON edit_history USING btree (part, account_id, job_id, "position");
grant delete, insert, select on edit_history to dragoman_app;

create table edited_jobs (
  part smallint not null,
  account_id uuid not null,
  job_id uuid not null,
  stage text not null,
  revision integer not null default 1,
  words integer not null,
  fallback text not null,
  created_at timestamp with time zone not null default now(),
  deadline_at timestamp with time zone not null,
  due_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint edited_jobs_pkey PRIMARY KEY (part, account_id, job_id),
  constraint edited_jobs_part_account_id_job_id_fkey FOREIGN KEY (part, account_id, job_id) REFERENCES jobs(part, account_id, job_id),
  constraint edited_jobs_check CHECK (((stage = ANY (ARRAY['editing'::text, 'review'::text, 'assembling'::text])) OR (due_at IS NULL))),
  constraint edited_jobs_fallback_check CHECK ((fallback = ANY (ARRAY['wait'::text, 'machine'::text]))),
  constraint edited_jobs_revision_check CHECK ((revision >= 1)),
  constraint edited_jobs_stage_check CHECK ((stage = ANY (ARRAY['editing'::text, 'review'::text, 'assembling'::text, 'done'::text, 'canceled'::text]))),
  constraint edited_jobs_words_check CHECK ((words >= 0))
);
CREATE INDEX edited_jobs_due ON edited_jobs USING btree (due_at) WHERE (due_at IS NOT NULL);
grant delete, insert, select, update on edited_jobs to dragoman_app;

create table editor_slots (
  user_id uuid not null,
  kind text not null,
  slot smallint not null,
  part smallint not null,
  account_id uuid not null,
  task_id uuid not null,
  constraint editor_slots_part_account_id_task_id_key UNIQUE (part, account_id, task_id),
  constraint editor_slots_pkey PRIMARY KEY (user_id, kind, slot),
  constraint editor_slots_kind_check CHECK ((kind = ANY (ARRAY['edit'::text, 'review'::text]))),
  constraint editor_slots_slot_check CHECK ((slot >= 0))
);
grant delete, insert, select on editor_slots to dragoman_app;

create table edits (
  part smallint not null,
  account_id uuid not null,
  job_id uuid not null,
  position integer not null,
  status text not null,
  target jsonb not null,
  revision integer not null,
  editor_id uuid not null,
  active_ms bigint not null default 0,
  distance integer not null default 0,
  words integer not null default 0,
  acknowledged text[] not null default '{}'::text[],
  filled_from integer,
  changed_at timestamp with time zone not null default now(),
  confirmed_at timestamp with time zone,
  constraint edits_pkey PRIMARY KEY (part, account_id, job_id, "position"),
  constraint edits_part_account_id_job_id_position_fkey FOREIGN KEY (part, account_id, job_id, "position") REFERENCES segments(part, account_id, job_id, "position") ON DELETE CASCADE,
  constraint edits_active_ms_check CHECK ((active_ms >= 0)),
  constraint edits_check CHECK (((status = 'confirmed'::text) = (confirmed_at IS NOT NULL))),
  constraint edits_distance_check CHECK ((distance >= 0)),
  constraint edits_revision_check CHECK ((revision >= 1)),
  constraint edits_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'confirmed'::text]))),
  constraint edits_words_check CHECK ((words >= 0))
);
CREATE INDEX edits_of_editor ON edits USING btree (editor_id, confirmed_at) WHERE (confirmed_at IS NOT NULL);
grant delete, insert, select, update on edits to dragoman_app;

create table engine_minutes (
  engine text collate "C" not null,
  minute timestamp with time zone not null,
  worker_id uuid not null,
  answered integer not null,
  failed integer not null,
  milliseconds bigint not null,
  slowest integer not null,
  constraint engine_minutes_pkey PRIMARY KEY (engine, minute, worker_id),
  constraint engine_minutes_answered_check CHECK ((answered >= 0)),
  constraint engine_minutes_failed_check CHECK ((failed >= 0)),
  constraint engine_minutes_milliseconds_check CHECK ((milliseconds >= 0)),
  constraint engine_minutes_slowest_check CHECK ((slowest >= 0))
);
grant delete, insert, select, update on engine_minutes to dragoman_app;

create table engine_states (
  worker_id uuid not null,
  engine text collate "C" not null,
  state text not null,
  state_since timestamp with time zone not null,
  waiting integer not null,
  version text,
  errors jsonb not null,
  seen_at timestamp with time zone not null default now(),
  constraint engine_states_pkey PRIMARY KEY (worker_id, engine),
  constraint engine_states_state_check CHECK ((state = ANY (ARRAY['closed'::text, 'half-open'::text, 'open'::text]))),
  constraint engine_states_waiting_check CHECK ((waiting >= 0))
);
grant delete, insert, select, update on engine_states to dragoman_app;

create table engine_tests (
  test_id uuid not null,
  engine text collate "C" not null,
  source_language text not null,
  target_language text not null,
  body text not null,
  created_at timestamp with time zone not null default now(),
  claimed_at timestamp with time zone,
  answer jsonb,
  constraint engine_tests_pkey PRIMARY KEY (test_id),
  constraint engine_tests_body_check CHECK (((char_length(body) >= 1) AND (char_length(body) <= 2000)))
);
grant delete, insert, select, update on engine_tests to dragoman_app;

create table events (
  part smallint not null,
  account_id uuid not null,
  event_id uuid not null,
  environment text not null,
  type text not null,
  job_id uuid,
  chat_id uuid,
  message_id uuid,
  created_at timestamp with time zone not null default clock_timestamp(),
  position bigint,
  constraint events_pkey PRIMARY KEY (part, account_id, event_id),
  constraint events_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
  constraint events_subject CHECK (((num_nonnulls(job_id, message_id) <= 1) AND ((chat_id IS NULL) = (message_id IS NULL)))),
  constraint events_type CHECK ((type = ANY (ARRAY['job.completed'::text, 'job.failed'::text, 'job.canceled'::text, 'message.translated'::text, 'message.failed'::text, 'message.corrected'::text, 'test'::text])))
);
CREATE INDEX events_unplaced ON events USING btree (part, account_id, environment, created_at, event_id) WHERE ("position" IS NULL);
CREATE UNIQUE INDEX events_placed ON events USING btree (part, account_id, environment, "position") WHERE ("position" IS NOT NULL);
grant delete, insert, select on events to dragoman_app;

create table feeds (
  part smallint not null,
  account_id uuid not null,
  environment text not null,
  last_position bigint not null default 0,
  constraint feeds_pkey PRIMARY KEY (part, account_id, environment),
  constraint feeds_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text])))
);
grant delete, insert, select, update on feeds to dragoman_app;

create table idempotency (
  part smallint not null,
  account_id uuid not null,
  environment text not null,
  key text collate "C" not null,
  request_hash bytea not null,
  job_ids uuid[] not null,
  created_at timestamp with time zone not null default now(),
  constraint idempotency_pkey PRIMARY KEY (part, account_id, environment, key),
  constraint idempotency_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
  constraint idempotency_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255)))
);
CREATE INDEX idempotency_age ON idempotency USING btree (created_at);
grant delete, insert, select, update on idempotency to dragoman_app;

create table invitations (
  token_hash bytea not null,
  user_id uuid not null,
  purpose text not null,
  invited_by uuid,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint invitations_pkey PRIMARY KEY (token_hash),
  constraint invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(user_id) ON DELETE SET NULL,
  constraint invitations_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(user_id) ON DELETE CASCADE,
  constraint invitations_purpose_check CHECK ((purpose = ANY (ARRAY['invitation'::text, 'reset'::text]))),
  constraint invitations_token_hash_check CHECK ((octet_length(token_hash) = 32))
);
CREATE INDEX invitations_of_user ON invitations USING btree (user_id);
grant delete, insert, select, update on invitations to dragoman_app;

create table issues (
  part smallint not null,
  account_id uuid not null,
  issue_id uuid not null,
  job_id uuid not null,
  position integer not null,
  category text not null,
  severity text not null,
  note text,
  range_start integer,
  range_end integer,
  reviewer_id uuid not null,
  editor_id uuid,
  task_id uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint issues_pkey PRIMARY KEY (part, account_id, issue_id),
  constraint issues_part_account_id_job_id_position_fkey FOREIGN KEY (part, account_id, job_id, "position") REFERENCES segments(part, account_id, job_id, "position") ON DELETE CASCADE,
  constraint issues_category_check CHECK ((category = ANY (ARRAY['accuracy'::text, 'terminology'::text, 'linguistic_conventions'::text, 'style'::text, 'locale_conventions'::text, 'audience_appropriateness'::text, 'design_and_markup'::text]))),
  constraint issues_check CHECK ((((range_start IS NULL) = (range_end IS NULL)) AND (range_start <= range_end))),
  constraint issues_note_check CHECK ((char_length(note) <= 2000)),
  constraint issues_severity_check CHECK ((severity = ANY (ARRAY['neutral'::text, 'minor'::text, 'major'::text, 'critical'::text])))
);
CREATE INDEX issues_of_editor ON issues USING btree (editor_id, created_at);
CREATE INDEX issues_of_job ON issues USING btree (part, account_id, job_id);
grant delete, insert, select on issues to dragoman_app;

create table job_counts (
  part smallint not null,
  account_id uuid not null,
  count_id bigint not null generated always as identity,
  environment text not null,
  tier text not null,
  status text not null,
  source_language text not null,
  target_language text not null,
  jobs bigint not null,
  folded boolean not null default false,
  constraint job_counts_pkey PRIMARY KEY (part, account_id, count_id),
  constraint job_counts_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
  constraint job_counts_status_check CHECK ((status = ANY (ARRAY['new'::text, 'machine_translate_in_progress'::text, 'translating'::text, 'completed'::text, 'failed'::text, 'canceled'::text, 'accepted'::text, 'rejected'::text]))),
  constraint job_counts_tier_check CHECK ((tier = ANY (ARRAY['human'::text, 'machine'::text, 'chat'::text])))
);
CREATE INDEX job_counts_unfolded ON job_counts USING btree (part, account_id) WHERE (NOT folded);
grant delete, insert, select on job_counts to dragoman_app;

create table job_events (
  part smallint not null,
  account_id uuid not null,
  event_id uuid not null,
  job_id uuid not null,
  from_status text not null,
  to_status text not null,
  actor text not null,
  detail text,
  created_at timestamp with time zone not null default now(),
  constraint job_events_pkey PRIMARY KEY (part, account_id, event_id),
  constraint job_events_part_account_id_job_id_fkey FOREIGN KEY (part, account_id, job_id) REFERENCES jobs(part, account_id, job_id)
);
grant insert, select on job_events to dragoman_app;

create table job_numbers (
  part smallint not null,
  account_id uuid not null,
  environment text not null,
  last_number bigint not null,
  last_milliseconds bigint not null,
  constraint job_numbers_pkey PRIMARY KEY (part, account_id, environment),
  constraint job_numbers_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
  constraint job_numbers_last_number_check CHECK ((last_number > 0))
);
grant delete, insert, select, update on job_numbers to dragoman_app;

create table job_texts (
  part smallint not null,
  account_id uuid not null,
  job_id uuid not null,
  kind text not null,
  body text not null,
  constraint job_texts_pkey PRIMARY KEY (part, account_id, job_id, kind),
  constraint job_texts_part_account_id_job_id_fkey FOREIGN KEY (part, account_id, job_id) REFERENCES jobs(part, account_id, job_id),
  constraint job_texts_kind_check CHECK ((kind = ANY (ARRAY['source'::text, 'supplied'::text, 'instructions'::text, 'result'::text])))
);
grant delete, insert, select, update on job_texts to dragoman_app;

create table jobs (
  part smallint not null,
  account_id uuid not null,
  job_id uuid not null,
  order_number bigint not null generated always as identity,
  environment text not null,
  tier text not null,
  uid text collate "C" not null,
  request_hash bytea not null,
  dialect text not null,
  status text not null,
  source_language text not null,
  target_language text not null,
  text_format text not null,
  tone text,
  topics text[],
  brand text,
  callback_url text,
  words integer not null,
  characters integer not null,
  price_cents bigint not null,
  created_at timestamp with time zone not null default now(),
  hold_until timestamp with time zone,
  finished_at timestamp with time zone,
  failure text,
  due_at timestamp with time zone,
  attempts integer not null default 0,
  lease_token uuid,
  charge smallint not null default 1,
  upgrade_hash bytea,
  default_brand text,
  fell_back boolean not null default false,
  redraft text collate "C",
  before_upgrade jsonb,
  constraint jobs_part_account_id_environment_uid_key UNIQUE (part, account_id, environment, uid),
  constraint jobs_pkey PRIMARY KEY (part, account_id, job_id),
  constraint jobs_characters_check CHECK ((characters >= 0)),
  constraint jobs_charge_check CHECK ((charge > 0)),
  constraint jobs_check CHECK (((lease_token IS NULL) OR (due_at IS NOT NULL))),
  constraint jobs_dialect_check CHECK ((dialect = ANY (ARRAY['spec'::text, 'legacy'::text]))),
  constraint jobs_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
  constraint jobs_price_cents_check CHECK ((price_cents >= 0)),
  constraint jobs_redraft_check CHECK ((char_length(redraft) <= 40)),
  constraint jobs_status_check CHECK ((status = ANY (ARRAY['new'::text, 'machine_translate_in_progress'::text, 'translating'::text, 'completed'::text, 'failed'::text, 'canceled'::text, 'accepted'::text, 'rejected'::text]))),
  constraint jobs_text_format_check CHECK ((text_format = ANY (ARRAY['text'::text, 'html'::text, 'srt'::text, 'xliff'::text]))),
  constraint jobs_tier_check CHECK ((tier = ANY (ARRAY['human'::text, 'machine'::text, 'chat'::text]))),
  constraint jobs_words_check CHECK ((words >= 0))
);
CREATE INDEX jobs_by_status ON jobs USING btree (part, account_id, environment, tier, status, job_id) WHERE (status <> ALL (ARRAY['completed'::text, 'accepted'::text]));
CREATE INDEX jobs_due ON jobs USING btree (part, account_id, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX jobs_listed ON jobs USING btree (part, account_id, environment, tier, job_id);
CREATE INDEX jobs_order_number ON jobs USING brin (order_number int8_minmax_multi_ops) WITH (pages_per_range='16', autosummarize='on');
CREATE INDEX jobs_uid_trigrams ON jobs USING gin (part, account_id, uid gin_trgm_ops);
CREATE INDEX jobs_unjudged ON jobs USING btree (finished_at) WHERE ((status = 'completed'::text) AND (tier = 'human'::text));
grant insert, select, update on jobs to dragoman_app;

create table keys (
  key_id text collate "C" not null,
  part smallint not null,
  account_id uuid not null,
  environment text not null,
  name text not null,
  secret_hash bytea not null,
  dialect text not null default 'spec'::text,
  read_only boolean not null default false,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  last_used_at timestamp with time zone,
  made_by uuid,
  constraint keys_pkey PRIMARY KEY (key_id),
  constraint keys_made_by_fkey FOREIGN KEY (made_by) REFERENCES users(user_id) ON DELETE SET NULL,
  constraint keys_part_account_id_fkey FOREIGN KEY (part, account_id) REFERENCES accounts(part, account_id),
  constraint keys_dialect_check CHECK ((dialect = ANY (ARRAY['spec'::text, 'legacy'::text]))),
  constraint keys_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text])))
);
CREATE INDEX keys_of_account ON keys USING btree (part, account_id);
CREATE INDEX keys_of_maker ON keys USING btree (made_by) WHERE (made_by IS NOT NULL);
grant delete, insert, select, update on keys to dragoman_app;

create table memory (
  part smallint not null,
  account_id uuid not null,
  memory_id uuid not null,
  brand text not null default ''::text,
  source_language text not null,
  target_language text not null,
  source_hash bytea not null,
  source jsonb not null,
  target jsonb not null,
  origin text not null,
  weight smallint not null default 1,
  created_at timestamp with time zone not null default now(),
  target_hash bytea not null default '\x'::bytea,
  sketch integer[] not null default '{}'::integer[],
  searched text not null default ''::text,
  changed_at timestamp with time zone not null default now(),
  retracted_at timestamp with time zone,
  retracted_by text,
  retract_reason text,
  tone text,
  constraint memory_translation UNIQUE (part, account_id, source_language, target_language, source_hash, brand, target_hash),
  constraint memory_pkey PRIMARY KEY (part, account_id, memory_id),
  constraint memory_part_account_id_fkey FOREIGN KEY (part, account_id) REFERENCES accounts(part, account_id),
  constraint memory_origin_check CHECK ((origin = ANY (ARRAY['import'::text, 'job'::text]))),
  constraint memory_retracted CHECK (((retracted_at IS NULL) = (retracted_by IS NULL))),
  constraint memory_weight_check CHECK ((weight >= 0))
);
CREATE INDEX memory_alike ON memory USING gin (sketch) WITH (fastupdate=off);
CREATE INDEX memory_searched ON memory USING gin (account_id, searched gin_trgm_ops);
grant delete, insert, select, update on memory to dragoman_app;

create table memory_lessons (
  part smallint not null,
  account_id uuid not null,
  job_id uuid not null,
  position integer not null,
  memory_id uuid not null,
  editor_id uuid,
  outcome text not null,
  context_hash bytea,
  created_at timestamp with time zone not null default now(),
  constraint memory_lessons_pkey PRIMARY KEY (part, account_id, job_id, "position"),
  constraint memory_lessons_part_account_id_memory_id_fkey FOREIGN KEY (part, account_id, memory_id) REFERENCES memory(part, account_id, memory_id) ON DELETE CASCADE,
  constraint memory_lessons_outcome_check CHECK ((outcome = ANY (ARRAY['delivered'::text, 'reviewed'::text, 'accepted'::text, 'rejected'::text])))
);
CREATE INDEX memory_lessons_of_entry ON memory_lessons USING btree (part, account_id, memory_id, context_hash);
grant delete, insert, select, update on memory_lessons to dragoman_app;

create table memory_uses (
  part smallint not null,
  account_id uuid not null,
  memory_id uuid not null,
  job_id uuid not null,
  position integer not null,
  how text not null,
  created_at timestamp with time zone not null default now(),
  constraint memory_uses_pkey PRIMARY KEY (part, account_id, memory_id, job_id, "position", how),
  constraint memory_uses_part_account_id_memory_id_fkey FOREIGN KEY (part, account_id, memory_id) REFERENCES memory(part, account_id, memory_id) ON DELETE CASCADE,
  constraint memory_uses_how_check CHECK ((how = ANY (ARRAY['applied'::text, 'taken'::text])))
);
CREATE INDEX memory_uses_of_job ON memory_uses USING btree (part, account_id, job_id);
grant delete, insert, select, update on memory_uses to dragoman_app;

create table message_corrections (
  part smallint not null,
  account_id uuid not null,
  message_id uuid not null,
  job_id uuid,
  created_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  constraint message_corrections_part_account_id_job_id_key UNIQUE (part, account_id, job_id),
  constraint message_corrections_pkey PRIMARY KEY (part, account_id, message_id),
  constraint message_corrections_part_account_id_job_id_fkey FOREIGN KEY (part, account_id, job_id) REFERENCES jobs(part, account_id, job_id),
  constraint message_corrections_part_account_id_message_id_fkey FOREIGN KEY (part, account_id, message_id) REFERENCES messages(part, account_id, message_id)
);
CREATE INDEX message_corrections_due ON message_corrections USING btree (created_at) WHERE (job_id IS NULL);
grant delete, insert, select, update on message_corrections to dragoman_app;

create table messages (
  part smallint not null,
  account_id uuid not null,
  message_id uuid not null,
  environment text not null,
  chat_id uuid not null,
  position integer not null,
  external_id text collate "C" not null,
  author_external_id text,
  callback_url text,
  is_inbound boolean,
  source_language text not null,
  target_language text not null,
  text_format text not null,
  characters integer not null,
  body text not null,
  default_brand text,
  translation_id uuid not null,
  translated text,
  status text not null,
  failure text,
  created_at timestamp with time zone not null default clock_timestamp(),
  completed_at timestamp with time zone,
  due_at timestamp with time zone,
  attempts integer not null default 0,
  lease_token uuid,
  constraint messages_part_account_id_chat_id_external_id_key UNIQUE (part, account_id, chat_id, external_id),
  constraint messages_part_account_id_chat_id_position_key UNIQUE (part, account_id, chat_id, "position"),
  constraint messages_pkey PRIMARY KEY (part, account_id, message_id),
  constraint messages_part_account_id_chat_id_fkey FOREIGN KEY (part, account_id, chat_id) REFERENCES chats(part, account_id, chat_id),
  constraint messages_characters_check CHECK ((characters >= 0)),
  constraint messages_check CHECK (((status = 'mt_init'::text) = (due_at IS NOT NULL))),
  constraint messages_check1 CHECK (((status = ANY (ARRAY['deliver_init'::text, 'deliver_complete'::text, 'deliver_failed'::text])) = (translated IS NOT NULL))),
  constraint messages_check2 CHECK (((translated IS NULL) = (completed_at IS NULL))),
  constraint messages_check3 CHECK (((lease_token IS NULL) OR (due_at IS NOT NULL))),
  constraint messages_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
  constraint messages_position_check CHECK (("position" > 0)),
  constraint messages_status_check CHECK ((status = ANY (ARRAY['mt_init'::text, 'deliver_init'::text, 'deliver_complete'::text, 'mt_failed'::text, 'deliver_failed'::text]))),
  constraint messages_text_format_check CHECK ((text_format = ANY (ARRAY['text'::text, 'html'::text])))
);
CREATE INDEX messages_due ON messages USING btree (part, account_id, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX messages_unanswered ON messages USING btree (part, account_id, chat_id, "position") WHERE (status = 'mt_init'::text);
grant delete, insert, select, update on messages to dragoman_app;

create table migrations (
  number integer not null,
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint migrations_pkey PRIMARY KEY (number)
);
grant select on migrations to dragoman_app;

create table money_requests (
  part smallint not null,
  account_id uuid not null,
  key text collate "C" not null,
  request_hash bytea not null,
  answer jsonb,
  created_at timestamp with time zone not null default now(),
  constraint money_requests_pkey PRIMARY KEY (part, account_id, key),
  constraint money_requests_part_account_id_fkey FOREIGN KEY (part, account_id) REFERENCES accounts(part, account_id),
  constraint money_requests_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255)))
);
grant delete, insert, select, update on money_requests to dragoman_app;

create table pairs (
  source_language text collate "C" not null,
  target_language text collate "C" not null,
  engine text not null,
  route text not null,
  hops smallint not null,
  engine_version text not null,
  checked_at timestamp with time zone not null,
  seen_at timestamp with time zone not null default now(),
  constraint pairs_pkey PRIMARY KEY (source_language, target_language, engine)
);
grant delete, insert, select, update on pairs to dragoman_app;

create table prices (
  price_id uuid not null,
  tier text not null,
  part smallint,
  account_id uuid,
  source_language text collate "C",
  target_language text collate "C",
  cents_per_word integer not null,
  valid_from timestamp with time zone not null,
  valid_until timestamp with time zone,
  constraint prices_pkey PRIMARY KEY (price_id),
  constraint prices_part_account_id_fkey FOREIGN KEY (part, account_id) REFERENCES accounts(part, account_id),
  constraint prices_cents_per_word_check CHECK (((cents_per_word >= 0) AND (cents_per_word <= 100000))),
  constraint prices_check CHECK ((valid_until > valid_from)),
  constraint prices_check1 CHECK (((part IS NULL) = (account_id IS NULL))),
  constraint prices_check2 CHECK (((source_language IS NULL) = (target_language IS NULL))),
  constraint prices_tier_check CHECK ((tier = ANY (ARRAY['human'::text, 'machine'::text])))
);
CREATE UNIQUE INDEX prices_start ON prices USING btree (tier, account_id, source_language, target_language, valid_from) NULLS NOT DISTINCT;
grant delete, insert, select, update on prices to dragoman_app;

create table routes (
  source_language text collate "C" not null,
  target_language text collate "C" not null,
  tier text not null,
  account_id uuid,
  brand text,
  engines text[] not null,
  constraint routes_source_language_target_language_tier_account_id_bran_key UNIQUE NULLS NOT DISTINCT (source_language, target_language, tier, account_id, brand),
  constraint routes_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(account_id),
  constraint routes_check CHECK (((brand IS NULL) OR (account_id IS NOT NULL))),
  constraint routes_engines_check CHECK ((cardinality(engines) > 0)),
  constraint routes_tier_check CHECK ((tier = ANY (ARRAY['*'::text, 'human'::text, 'machine'::text, 'chat'::text])))
);
grant delete, insert, select, update on routes to dragoman_app;

create table sandbox_requests (
  request_id uuid not null,
  created_at timestamp with time zone not null default now(),
  name text not null,
  email text collate "C" not null,
  company text not null,
  purpose text not null,
  locale text,
  status text not null default 'open'::text,
  decided_at timestamp with time zone,
  decided_by text,
  part smallint,
  account_id uuid,
  token_hash bytea,
  expires_at timestamp with time zone,
  shown_at timestamp with time zone,
  mailed text,
  constraint sandbox_requests_token_hash_key UNIQUE (token_hash),
  constraint sandbox_requests_pkey PRIMARY KEY (request_id),
  constraint sandbox_requests_part_account_id_fkey FOREIGN KEY (part, account_id) REFERENCES accounts(part, account_id),
  constraint sandbox_requests_check CHECK (((status = 'open'::text) = (decided_at IS NULL))),
  constraint sandbox_requests_check1 CHECK (((status = 'granted'::text) = (account_id IS NOT NULL))),
  constraint sandbox_requests_check2 CHECK (((part IS NULL) = (account_id IS NULL))),
  constraint sandbox_requests_company_check CHECK ((char_length(company) <= 200)),
  constraint sandbox_requests_decided_by_check CHECK ((char_length(decided_by) <= 254)),
  constraint sandbox_requests_email_check CHECK (((email = lower(email)) AND (char_length(email) <= 254))),
  constraint sandbox_requests_locale_check CHECK ((char_length(locale) <= 20)),
  constraint sandbox_requests_mailed_check CHECK ((mailed = ANY (ARRAY['sent'::text, 'failed'::text]))),
  constraint sandbox_requests_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
  constraint sandbox_requests_purpose_check CHECK ((char_length(purpose) <= 2000)),
  constraint sandbox_requests_status_check CHECK ((status = ANY (ARRAY['open'::text, 'granted'::text, 'refused'::text]))),
  constraint sandbox_requests_token_hash_check CHECK ((octet_length(token_hash) = 32))
);
CREATE INDEX sandbox_requests_by_status ON sandbox_requests USING btree (status, request_id);
CREATE UNIQUE INDEX sandbox_requests_open ON sandbox_requests USING btree (email) WHERE (status = 'open'::text);
grant insert, select, update on sandbox_requests to dragoman_app;

create table secret_key_mark (
  one boolean not null default true,
  mark bytea not null,
  recorded_at timestamp with time zone not null default now(),
  constraint secret_key_mark_pkey PRIMARY KEY (one),
  constraint secret_key_mark_mark_check CHECK ((octet_length(mark) = 32)),
  constraint secret_key_mark_one_check CHECK (one)
);
grant insert, select, update on secret_key_mark to dragoman_app;

create table segments (
  part smallint not null,
  account_id uuid not null,
  job_id uuid not null,
  position integer not null,
  segment_id text not null,
  source jsonb not null,
  draft jsonb,
  route text,
  notes text[] not null default '{}'::text[],
  failure text,
  repeats integer,
  constraint segments_pkey PRIMARY KEY (part, account_id, job_id, "position"),
  constraint segments_part_account_id_job_id_fkey FOREIGN KEY (part, account_id, job_id) REFERENCES jobs(part, account_id, job_id),
  constraint segments_check CHECK (((draft IS NULL) = (failure IS NOT NULL)))
);
CREATE INDEX segments_repeated ON segments USING btree (part, account_id, job_id, repeats) WHERE (repeats IS NOT NULL);
grant delete, insert, select, update on segments to dragoman_app;

create table sessions (
  session_id uuid not null,
  user_id uuid not null,
  token_hash bytea not null,
  user_agent text not null,
  created_at timestamp with time zone not null default now(),
  last_seen_at timestamp with time zone not null default now(),
  rotated_at timestamp with time zone not null default now(),
  ends_at timestamp with time zone not null,
  constraint sessions_token_hash_key UNIQUE (token_hash),
  constraint sessions_pkey PRIMARY KEY (session_id),
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(user_id) ON DELETE CASCADE,
  constraint sessions_token_hash_check CHECK ((octet_length(token_hash) = 32)),
  constraint sessions_user_agent_check CHECK ((char_length(user_agent) <= 100))
);
CREATE INDEX sessions_by_end ON sessions USING btree (ends_at);
CREATE INDEX sessions_of_user ON sessions USING btree (user_id);
grant delete, insert, select, update on sessions to dragoman_app;

create table sign_ins (
  mark bytea not null,
  attempts integer not null,
  last_at timestamp with time zone not null default now(),
  closed_until timestamp with time zone not null default now(),
  constraint sign_ins_pkey PRIMARY KEY (mark),
  constraint sign_ins_attempts_check CHECK ((attempts >= 0)),
  constraint sign_ins_mark_check CHECK ((octet_length(mark) = 32))
);
CREATE INDEX sign_ins_by_age ON sign_ins USING btree (last_at);
grant delete, insert, select, update on sign_ins to dragoman_app;

create table task_reports (
  part smallint not null,
  account_id uuid not null,
  report_id uuid not null,
  task_id uuid not null,
  user_id uuid not null,
  reason text not null,
  note text,
  created_at timestamp with time zone not null default now(),
  constraint task_reports_pkey PRIMARY KEY (part, account_id, report_id),
  constraint task_reports_part_account_id_task_id_fkey FOREIGN KEY (part, account_id, task_id) REFERENCES tasks(part, account_id, task_id),
  constraint task_reports_note_check CHECK ((char_length(note) <= 2000)),
  constraint task_reports_reason_check CHECK ((reason = ANY (ARRAY['bad_source'::text, 'wrong_language'::text, 'mixed_languages'::text, 'offensive'::text, 'unclear_instructions'::text, 'other'::text, 'skipped'::text, 'no_human'::text])))
);
CREATE INDEX task_reports_of_task ON task_reports USING btree (part, account_id, task_id);
grant delete, insert, select on task_reports to dragoman_app;

create table task_skips (
  part smallint not null,
  account_id uuid not null,
  task_id uuid not null,
  user_id uuid not null,
  reason text not null,
  created_at timestamp with time zone not null default now(),
  constraint task_skips_pkey PRIMARY KEY (part, account_id, task_id, user_id),
  constraint task_skips_part_account_id_task_id_fkey FOREIGN KEY (part, account_id, task_id) REFERENCES tasks(part, account_id, task_id),
  constraint task_skips_reason_check CHECK ((reason = ANY (ARRAY['too_hard'::text, 'not_my_topic'::text, 'no_time'::text, 'other'::text])))
);
grant delete, insert, select on task_skips to dragoman_app;

create table tasks (
  part smallint not null,
  account_id uuid not null,
  task_id uuid not null,
  job_id uuid not null,
  kind text not null,
  status text not null default 'open'::text,
  first_position integer not null,
  last_position integer not null,
  words integer not null,
  source_language text collate "C" not null,
  target_language text collate "C" not null,
  priority smallint not null default 0,
  deadline_at timestamp with time zone not null,
  editor_id uuid,
  reserved_for uuid,
  reserved_until timestamp with time zone,
  returned boolean not null default false,
  created_at timestamp with time zone not null default now(),
  changed_at timestamp with time zone not null default now(),
  constraint tasks_pkey PRIMARY KEY (part, account_id, task_id),
  constraint tasks_part_account_id_job_id_fkey FOREIGN KEY (part, account_id, job_id) REFERENCES edited_jobs(part, account_id, job_id),
  constraint tasks_check CHECK ((last_position >= first_position)),
  constraint tasks_check1 CHECK (((reserved_for IS NULL) = (reserved_until IS NULL))),
  constraint tasks_check2 CHECK (((status <> 'claimed'::text) OR (editor_id IS NOT NULL))),
  constraint tasks_first_position_check CHECK ((first_position >= 0)),
  constraint tasks_kind_check CHECK ((kind = ANY (ARRAY['edit'::text, 'review'::text]))),
  constraint tasks_priority_check CHECK (((priority >= '-10'::integer) AND (priority <= 10))),
  constraint tasks_status_check CHECK ((status = ANY (ARRAY['open'::text, 'claimed'::text, 'submitted'::text, 'done'::text, 'reported'::text, 'canceled'::text]))),
  constraint tasks_words_check CHECK ((words >= 0))
);
CREATE INDEX tasks_by_id ON tasks USING btree (task_id);
CREATE INDEX tasks_open ON tasks USING btree (source_language, target_language, kind, part, account_id, priority DESC, deadline_at, task_id) WHERE (status = 'open'::text);
CREATE INDEX tasks_unfinished ON tasks USING btree (source_language, target_language, kind, status) WHERE (status = ANY (ARRAY['open'::text, 'claimed'::text, 'submitted'::text, 'reported'::text]));
CREATE UNIQUE INDEX tasks_of_job ON tasks USING btree (part, account_id, job_id, kind, first_position) WHERE (status <> 'canceled'::text);
grant delete, insert, select, update on tasks to dragoman_app;

create table terms (
  part smallint not null,
  account_id uuid not null,
  external_id text collate "C" not null,
  language text collate "C" not null,
  position integer not null,
  source text not null,
  target text not null,
  case_sensitive boolean not null,
  forbidden boolean not null,
  do_not_translate boolean not null,
  note text,
  constraint terms_pkey PRIMARY KEY (part, account_id, external_id, language, "position"),
  constraint terms_part_account_id_external_id_language_fkey FOREIGN KEY (part, account_id, external_id, language) REFERENCES brand_languages(part, account_id, external_id, language) ON DELETE CASCADE,
  constraint terms_check CHECK (
CASE
    WHEN do_not_translate THEN ((target = ''::text) AND (NOT forbidden))
    ELSE (target <> ''::text)
END),
  constraint terms_note_check CHECK (((char_length(note) >= 1) AND (char_length(note) <= 2000))),
  constraint terms_position_check CHECK (("position" >= 0)),
  constraint terms_source_check CHECK (((char_length(source) >= 1) AND (char_length(source) <= 500))),
  constraint terms_target_check CHECK ((char_length(target) <= 500))
);
grant delete, insert, select, update on terms to dragoman_app;

create table transfers (
  part smallint not null,
  account_id uuid not null,
  transfer_id uuid not null,
  environment text not null,
  job_id uuid,
  kind text not null,
  debit text not null,
  credit text not null,
  amount_cents bigint not null,
  memo text,
  created_at timestamp with time zone not null default now(),
  charge smallint not null default 1,
  constraint transfers_pkey PRIMARY KEY (part, account_id, transfer_id),
  constraint transfers_part_account_id_job_id_fkey FOREIGN KEY (part, account_id, job_id) REFERENCES jobs(part, account_id, job_id),
  constraint transfers_amount_cents_check CHECK ((amount_cents > 0)),
  constraint transfers_charge_check CHECK ((charge > 0)),
  constraint transfers_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
  constraint transfers_job CHECK (((kind = ANY (ARRAY['top_up'::text, 'adjustment'::text])) = (job_id IS NULL))),
  constraint transfers_kind CHECK (((((((((kind = 'top_up'::text) AND (debit = 'funding'::text) AND (credit = 'available'::text)) OR ((kind = 'adjustment'::text) AND (debit = 'funding'::text) AND (credit = 'available'::text))) OR ((kind = 'adjustment'::text) AND (debit = 'available'::text) AND (credit = 'funding'::text))) OR ((kind = 'hold'::text) AND (debit = 'available'::text) AND (credit = 'held'::text))) OR ((kind = 'capture'::text) AND (debit = 'held'::text) AND (credit = 'revenue'::text))) OR ((kind = 'void'::text) AND (debit = 'held'::text) AND (credit = 'available'::text))) OR ((kind = 'refund'::text) AND (debit = 'revenue'::text) AND (credit = 'available'::text))))
);
CREATE UNIQUE INDEX transfers_end ON transfers USING btree (part, account_id, job_id, charge) WHERE (kind = ANY (ARRAY['capture'::text, 'void'::text]));
CREATE UNIQUE INDEX transfers_hold ON transfers USING btree (part, account_id, job_id, charge) WHERE (kind = 'hold'::text);
CREATE UNIQUE INDEX transfers_refund ON transfers USING btree (part, account_id, job_id, charge) WHERE (kind = 'refund'::text);
grant insert, select on transfers to dragoman_app;

create table user_languages (
  user_id uuid not null,
  source_language text collate "C" not null,
  target_language text collate "C" not null,
  review boolean not null default false,
  constraint user_languages_pkey PRIMARY KEY (user_id, source_language, target_language),
  constraint user_languages_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(user_id) ON DELETE CASCADE,
  constraint user_languages_check CHECK ((source_language <> target_language))
);
CREATE INDEX user_languages_by_pair ON user_languages USING btree (source_language, target_language);
grant delete, insert, select, update on user_languages to dragoman_app;

create table users (
  user_id uuid not null,
  email text collate "C" not null,
  name text not null,
  role text not null,
  part smallint,
  account_id uuid,
  password_hash text,
  locale text,
  theme text not null default 'system'::text,
  review_share smallint not null default 100,
  disabled_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  owner boolean not null default false,
  constraint users_email_key UNIQUE (email),
  constraint users_pkey PRIMARY KEY (user_id),
  constraint users_part_account_id_fkey FOREIGN KEY (part, account_id) REFERENCES accounts(part, account_id),
  constraint users_check CHECK (((part IS NULL) = (account_id IS NULL))),
  constraint users_check1 CHECK (((role = 'customer'::text) = (account_id IS NOT NULL))),
  constraint users_check2 CHECK (((NOT owner) OR (account_id IS NOT NULL))),
  constraint users_email_check CHECK (((email = lower(email)) AND (email ~ '^[^\s@]+@[^\s@]+$'::text) AND (char_length(email) <= 254))),
  constraint users_locale_check CHECK ((locale ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'::text)),
  constraint users_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
  constraint users_review_share_check CHECK (((review_share >= 0) AND (review_share <= 100))),
  constraint users_role_check CHECK ((role = ANY (ARRAY['customer'::text, 'editor'::text, 'operator'::text]))),
  constraint users_theme_check CHECK ((theme = ANY (ARRAY['system'::text, 'light'::text, 'dark'::text])))
);
CREATE INDEX users_of_account ON users USING btree (part, account_id) WHERE (account_id IS NOT NULL);
grant delete, insert, select, update on users to dragoman_app;

create table webhook_secrets (
  part smallint not null,
  account_id uuid not null,
  secret_id uuid not null,
  environment text not null,
  sealed bytea not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  constraint webhook_secrets_pkey PRIMARY KEY (part, account_id, secret_id),
  constraint webhook_secrets_part_account_id_fkey FOREIGN KEY (part, account_id) REFERENCES accounts(part, account_id),
  constraint webhook_secrets_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text])))
);
grant delete, insert, select, update on webhook_secrets to dragoman_app;
