-- A machine's job that was refunded may still go on to a human, and what that is charged may be given back as well:
-- nothing is given back twice, up to the charge that a refund was given for.
drop index transfers_refund;
create unique index transfers_refund on transfers (part, account_id, job_id, charge) where kind = 'refund';
