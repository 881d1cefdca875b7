-- What a customer says of a finished job. Those of people's that nobody has said anything of, the longest first.
create index jobs_unjudged on jobs (finished_at) where status = 'completed' and tier = 'human';
