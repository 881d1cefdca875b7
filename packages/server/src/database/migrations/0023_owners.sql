-- Who of an account's people may decide about the account itself: how long its data is kept, who takes all of it out,
-- and when it ends. The first person of an account is one; of accounts that there are, the one who came first.
alter table users
  add column owner boolean not null default false,
  add check (not owner or account_id is not null);

update users set owner = true
 where user_id in (
   select distinct on (part, account_id) user_id from users
    where account_id is not null
    order by part, account_id, disabled_at is not null, created_at, user_id);

-- Somebody has asked for its end. Nobody comes in any more; the workers delete what there is, and then it is erased.
alter table accounts add column erase_requested_at timestamptz;
create index accounts_to_erase on accounts (erase_requested_at)
  where erase_requested_at is not null and erased_at is null;
