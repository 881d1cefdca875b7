-- A claim lasts as long as its editor is active. Processes of the version before still write and read a limit.
alter table claims alter column limit_until set default '2100-01-01 00:00:00+00';
