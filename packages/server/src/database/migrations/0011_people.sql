-- People who sign in, and how. Small tables that are read everywhere: a person is no row of an account, since an editor
-- works for all of them; a customer's person names its account.

create table users (
  user_id       uuid primary key,
  email         text collate "C" not null unique
                check (email = lower(email) and email ~ '^[^\s@]+@[^\s@]+$' and char_length(email) <= 254),
  name          text not null check (char_length(name) between 1 and 100),
  role          text not null check (role in ('customer', 'editor', 'operator')),
  part          smallint,
  account_id    uuid,
  password_hash text, -- null until an invitation is accepted
  locale        text check (locale ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'), -- null: as the browser says
  theme         text not null default 'system' check (theme in ('system', 'light', 'dark')),
  review_share  smallint not null default 100 check (review_share between 0 and 100), -- percent
  disabled_at   timestamptz,
  created_at    timestamptz not null default now(),
  foreign key (part, account_id) references accounts (part, account_id),
  check ((part is null) = (account_id is null)),
  check ((role = 'customer') = (account_id is not null))
);
create index users_of_account on users (part, account_id) where account_id is not null;

-- What an editor works from and into, and whether they may review it too.
create table user_languages (
  user_id         uuid not null references users (user_id) on delete cascade,
  source_language text collate "C" not null,
  target_language text collate "C" not null,
  review          boolean not null default false,
  primary key (user_id, source_language, target_language),
  check (source_language <> target_language)
);
create index user_languages_by_pair on user_languages (source_language, target_language);

create table sessions (
  session_id   uuid primary key,
  user_id      uuid not null references users (user_id) on delete cascade,
  token_hash   bytea not null unique check (octet_length(token_hash) = 32),
  user_agent   text not null check (char_length(user_agent) <= 100), -- the browser's and the system's name
  created_at   timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  rotated_at   timestamptz not null default now(),
  ends_at      timestamptz not null -- whatever is done in it
);
create index sessions_of_user on sessions (user_id);
create index sessions_by_end on sessions (ends_at);

-- Links that are used once: they let a person choose a password, the first or another.
create table invitations (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  user_id    uuid not null references users (user_id) on delete cascade,
  purpose    text not null check (purpose in ('invitation', 'reset')),
  invited_by uuid references users (user_id) on delete set null, -- null: by command
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at    timestamptz
);
create index invitations_of_user on invitations (user_id);

-- Attempts to sign in, counted by address, and by account and address; neither is kept in clear.
create table sign_ins (
  mark         bytea primary key check (octet_length(mark) = 32),
  attempts     integer not null check (attempts >= 0),
  last_at      timestamptz not null default now(),
  closed_until timestamptz not null default now() -- no attempt is looked at before
);
create index sign_ins_by_age on sign_ins (last_at);

grant select, insert, update, delete on users, user_languages, sessions, invitations, sign_ins to dragoman_app;

-- The account decides the part: see 0010_part_statistics.sql.
alter table users alter column part set (n_distinct = 1), alter column part set statistics 1;
