-- A canceled upgrade gives a machine job back as it was. Kept from the upgrade until the job is finished or back: its
-- charge, price and properties, and its instructions.
alter table jobs add column before_upgrade jsonb;

-- A job that is upgraded again keeps what its editors made of each segment that reads the same. Where another version of
-- the program cuts its text otherwise, what was made of the old segments goes with them.
alter table edits drop constraint edits_part_account_id_job_id_position_fkey,
  add constraint edits_part_account_id_job_id_position_fkey foreign key (part, account_id, job_id, position)
    references segments (part, account_id, job_id, position) on delete cascade;
alter table issues drop constraint issues_part_account_id_job_id_position_fkey,
  add constraint issues_part_account_id_job_id_position_fkey foreign key (part, account_id, job_id, position)
    references segments (part, account_id, job_id, position) on delete cascade;
alter table edit_history
  add constraint edit_history_part_account_id_job_id_position_fkey foreign key (part, account_id, job_id, position)
    references segments (part, account_id, job_id, position) on delete cascade;
