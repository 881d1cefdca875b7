-- What an editor wrote about a task may quote its text: it ends with the texts of the job.
grant update (note) on task_reports to dragoman_app;
