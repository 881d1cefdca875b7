-- A mark of the secret key that this database is used with, from its first use: one row. All processes need the same
-- key, and one with another key says so at its start (accounts/secret-key.ts). The mark is an HMAC; it says nothing of
-- the key.
create table secret_key_mark (
  one         boolean primary key default true check (one),
  mark        bytea not null check (octet_length(mark) = 32),
  recorded_at timestamptz not null default now()
);
grant select, insert, update on secret_key_mark to dragoman_app;
