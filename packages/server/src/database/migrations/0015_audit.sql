-- Who did what to whom: keys, secrets, people, money and all else that a person or a command changes. Never a
-- customer's text. Small, and not every row is about an account.

create table audit (
  audit_id   uuid primary key,
  at         timestamptz not null default now(),
  actor      text not null check (actor in ('person', 'command', 'program')),
  user_id    uuid references users (user_id) on delete set null,
  name       text not null check (char_length(name) <= 254), -- a person's e-mail then, or who ran the command
  action     text collate "C" not null check (action ~ '^[a-z_]+\.[a-z_]+$'),
  part       smallint,
  account_id uuid,
  subject    text not null check (char_length(subject) <= 300),
  detail     jsonb not null,
  check ((part is null) = (account_id is null)),
  check (actor = 'person' or user_id is null)
);
create index audit_of_account on audit (part, account_id, audit_id);
create index audit_of_action on audit (action, audit_id);
-- The account decides the part: see 0010_part_statistics.sql.
alter table audit alter column part set (n_distinct = 1), alter column part set statistics 1;

-- Append-only.
grant select, insert on audit to dragoman_app;

-- Who would like to try the interface: an account whose first key is shown once, by a link.
create table sandbox_requests (
  request_id  uuid primary key,
  created_at  timestamptz not null default now(),
  name        text not null check (char_length(name) between 1 and 100),
  email       text collate "C" not null check (email = lower(email) and char_length(email) <= 254),
  company     text not null check (char_length(company) <= 200),
  purpose     text not null check (char_length(purpose) <= 2000),
  locale      text check (char_length(locale) <= 20),
  status      text not null default 'open' check (status in ('open', 'granted', 'refused')),
  decided_at  timestamptz,
  decided_by  text check (char_length(decided_by) <= 254),
  part        smallint,
  account_id  uuid,
  token_hash  bytea unique check (octet_length(token_hash) = 32), -- of the link; null: there is none, or it was used
  expires_at  timestamptz,
  shown_at    timestamptz, -- when the key was looked at
  mailed      text check (mailed in ('sent', 'failed')), -- null: no mail was to be sent
  foreign key (part, account_id) references accounts (part, account_id),
  check ((status = 'open') = (decided_at is null)),
  check ((status = 'granted') = (account_id is not null)),
  check ((part is null) = (account_id is null))
);
create index sandbox_requests_by_status on sandbox_requests (status, request_id);
-- Asking twice is asking once.
create unique index sandbox_requests_open on sandbox_requests (email) where status = 'open';
alter table sandbox_requests alter column part set (n_distinct = 1), alter column part set statistics 1;
grant select, insert, update on sandbox_requests to dragoman_app;
