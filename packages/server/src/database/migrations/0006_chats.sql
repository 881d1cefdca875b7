-- Chats and their messages.
--
-- `accounts.chat` says whether an account has a chat subscription; `chat_pairs` which pairs are in it.

alter table accounts add column chat_pairs text[]; -- as `en-es`; null: every pair that is offered

create table chats (
  part              smallint not null,
  account_id        uuid not null,
  chat_id           uuid not null,
  environment       text not null check (environment in ('production', 'sandbox')),
  external_id       text collate "C" not null,
  agent_external_id text,
  brand             text,
  created_at        timestamptz not null default now(),
  -- Its row's lock is the order of a chat: a message takes its position under it, and its event is recorded
  -- under it. Positions have no gaps, so the last one is also the number of messages.
  last_position     integer not null default 0,
  -- Every message up to this position has its answer, and the event of it is on record.
  answered_position integer not null default 0,
  primary key (part, account_id, chat_id),
  unique (part, account_id, environment, external_id),
  check (answered_position between 0 and last_position)
) with (fillfactor = 50); -- written with every message

create table messages (
  part               smallint not null,
  account_id         uuid not null,
  message_id         uuid not null,
  environment        text not null check (environment in ('production', 'sandbox')),
  chat_id            uuid not null,
  position           integer not null check (position > 0), -- in its chat, from 1
  external_id        text collate "C" not null,
  author_external_id text,
  callback_url       text,
  is_inbound         boolean,
  source_language    text not null,
  target_language    text not null,
  text_format        text not null check (text_format in ('text', 'html')),
  characters         integer not null check (characters >= 0),
  body               text not null,
  default_brand      text, -- the account's, at creation; counts where the chat's own says nothing
  translation_id     uuid not null,
  translated         text,
  status             text not null check (status in ('mt_init', 'deliver_init', 'deliver_complete', 'mt_failed',
                       'deliver_failed')),
  failure            text,
  created_at         timestamptz not null default clock_timestamp(),
  completed_at       timestamptz,
  -- the message is its own queue entry; due_at is null when no machine has work on it
  due_at             timestamptz,
  attempts           integer not null default 0,
  lease_token        uuid,
  primary key (part, account_id, message_id),
  unique (part, account_id, chat_id, external_id),
  unique (part, account_id, chat_id, position),
  foreign key (part, account_id, chat_id) references chats (part, account_id, chat_id),
  check ((status = 'mt_init') = (due_at is not null)),
  check ((status in ('deliver_init', 'deliver_complete', 'deliver_failed')) = (translated is not null)),
  check ((translated is null) = (completed_at is null)),
  check (lease_token is null or due_at is not null)
) with (fillfactor = 85);
create index messages_due on messages (part, account_id, due_at) where due_at is not null;
create index messages_unanswered on messages (part, account_id, chat_id, position) where status = 'mt_init';

grant select, insert, update on chats, messages to dragoman_app;
