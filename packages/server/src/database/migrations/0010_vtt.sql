-- The program checks the format of a job. `not valid`: all present jobs hold the narrower condition, and are not read.
alter table jobs drop constraint jobs_text_format_check;
alter table jobs
  add constraint jobs_text_format_check check (text_format in ('text', 'html', 'srt', 'xliff', 'vtt')) not valid;
