-- Brands: how an account wants to sound, for each target language.
--
-- A brand is known by the external identifier that requests carry, so that is its key; it is never renamed.

create table brands (
  part        smallint not null,
  account_id  uuid not null,
  external_id text collate "C" not null check (char_length(external_id) between 1 and 128),
  name        text not null check (char_length(name) between 1 and 200),
  created_at  timestamptz not null default now(),
  changed_at  timestamptz not null default now(),
  primary key (part, account_id, external_id),
  foreign key (part, account_id) references accounts (part, account_id)
);

create table brand_languages (
  part         smallint not null,
  account_id   uuid not null,
  external_id  text collate "C" not null,
  language     text collate "C" not null check (language ~ '^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$'),
  tone         text check (tone in ('Informal', 'Formal')),
  instructions text check (char_length(instructions) between 1 and 10000),
  primary key (part, account_id, external_id, language),
  foreign key (part, account_id, external_id) references brands (part, account_id, external_id) on delete cascade
);

create table terms (
  part             smallint not null,
  account_id       uuid not null,
  external_id      text collate "C" not null,
  language         text collate "C" not null,
  position         integer not null check (position >= 0), -- the order in which the operator wrote them
  source           text not null check (char_length(source) between 1 and 500),
  target           text not null check (char_length(target) <= 500),
  case_sensitive   boolean not null,
  forbidden        boolean not null,
  do_not_translate boolean not null,
  note             text check (char_length(note) between 1 and 2000),
  primary key (part, account_id, external_id, language, position),
  foreign key (part, account_id, external_id, language)
    references brand_languages (part, account_id, external_id, language) on delete cascade,
  -- a term either has a target, to be used or forbidden, or stays as it is
  check (case when do_not_translate then target = '' and not forbidden else target <> '' end)
);

alter table accounts
  add column default_brand text collate "C",
  add foreign key (part, account_id, default_brand) references brands (part, account_id, external_id)
    on delete set null (default_brand);

-- The account's default when the job was made, where its request named no brand.
alter table jobs add column default_brand text;

grant select, insert, update, delete on brands, brand_languages, terms to dragoman_app;
