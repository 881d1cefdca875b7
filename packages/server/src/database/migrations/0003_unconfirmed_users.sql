-- Users whom a customer invited with a link that was shown, not mailed: nobody has proved that the mailbox is theirs, so the
-- address is free for an operator's invitation and for the sign-in provider.
alter table users add column unconfirmed boolean not null default false;
