-- The patterns of a brand: regular expressions whose matches are not translated.
alter table brands add column protect text[] not null default '{}';

-- How texts of jobs and messages are read, such as the patterns of their brand when they were created. A row never changes, and
-- the jobs and messages with the same settings share it. No row has settings that are all absent.
create table document_settings (
  part       smallint not null,
  account_id uuid not null,
  hash       text collate "C" not null, -- of the settings
  settings   jsonb not null,
  primary key (part, account_id, hash),
  foreign key (part, account_id) references accounts (part, account_id)
);
grant select, insert, delete on document_settings to dragoman_app;
alter table document_settings alter part set (n_distinct = 1), alter part set statistics 1;

-- The hash of the settings; null: the text is read without any.
alter table jobs add column document_settings text collate "C";
alter table messages add column document_settings text collate "C";
