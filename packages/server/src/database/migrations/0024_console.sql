-- What an editor wrote about a task may quote its text: it ends with the texts of the job.
grant update (note) on task_reports to dragoman_app;

-- Asked for by an operator: the engine that a drafted job is drafted anew by, or '' for the route of now. Null: nobody has.
alter table jobs add column redraft text collate "C" check (char_length(redraft) <= 40);
