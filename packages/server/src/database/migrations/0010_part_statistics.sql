-- The account decides the part, and the planner does not know it: it takes the two for independent, thinks an account
-- with a fifth of two hundred thousand jobs to be one row, and then reads all of them through whichever index begins
-- with part and account (measured: a page of 20 jobs in 180 ms, instead of 0.1). Told that there is one part, it asks
-- the account alone how many rows there are.
do $$
declare
  one record;
begin
  for one in
    select c.oid::regclass as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and a.attname = 'part'
  loop
    execute format('alter table %s alter column part set (n_distinct = 1)', one.name);
    -- Nor is it to remember which parts are common: that would say it better.
    execute format('alter table %s alter column part set statistics 1', one.name);
    execute format('analyze %s', one.name);
  end loop;
end
$$;
