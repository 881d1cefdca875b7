-- Prices, what operators close, money given back, and keys that end later.

-- What an operator has closed. Apart from `pairs`, which workers write anew: publishing must not open it again.
create table disabled_pairs (
  source_language text collate "C" not null,
  target_language text collate "C" not null,
  disabled_at     timestamptz not null default now(),
  primary key (source_language, target_language)
);

-- A reference table, though some rows name an account: every creation reads it whole, from memory.
create table prices (
  price_id        uuid primary key,
  tier            text not null check (tier in ('human', 'machine')),
  part            smallint, -- null, with account_id: for every account
  account_id      uuid,
  source_language text collate "C", -- null, with target_language: for every pair
  target_language text collate "C",
  cents_per_word  integer not null check (cents_per_word between 0 and 100000),
  valid_from      timestamptz not null,
  valid_until     timestamptz check (valid_until > valid_from),
  foreign key (part, account_id) references accounts (part, account_id),
  check ((part is null) = (account_id is null)),
  check ((source_language is null) = (target_language is null))
);
-- Setting a price ends the one before at its start, so no two hold at once; this keeps two operators from
-- starting the same one at the same moment.
create unique index prices_start
  on prices (tier, account_id, source_language, target_language, valid_from) nulls not distinct;

alter table keys add column last_used_at timestamptz; -- to the hour

-- Money that an operator moves: back to the customer after a capture, or in either direction with a reason.
alter table transfers drop constraint transfers_check;
alter table transfers drop constraint transfers_check1;
alter table transfers add constraint transfers_kind check ((kind, debit, credit) in (
  ('top_up',     'funding',   'available'),
  ('adjustment', 'funding',   'available'),
  ('adjustment', 'available', 'funding'),
  ('hold',       'available', 'held'),
  ('capture',    'held',      'revenue'),
  ('void',       'held',      'available'),
  ('refund',     'revenue',   'available')));
alter table transfers add constraint transfers_job check ((kind in ('top_up', 'adjustment')) = (job_id is null));
-- Nothing is given back twice.
create unique index transfers_refund on transfers (part, account_id, job_id) where kind = 'refund';

grant select, insert, update, delete on prices, disabled_pairs to dragoman_app;
