/** Tests which statements take the lock of reference tables. */
import { expect, it } from 'vitest';
import { locksReferenceTables } from './reference-tables.ts';

it.each([
  'insert into sessions (session_id) values ($1)',
  'with used as (update invitations set used_at = now() where user_id = $1 returning user_id) select from used',
  'delete from users u where u.email = $1',
  'select user_id from users where part = $1 and owner order by user_id for update',
  'with a as (select from accounts where part = $1 for key share) insert into audit (part) select $1 from a',
])('the lock is taken for %s', (text) => {
  expect(locksReferenceTables(text)).toBe(true);
});

it.each([
  'select from users where user_id = $1',
  'insert into users_of_another_table (part) values ($1)',
  'update jobs set due_at = null from accounts a where a.part = $1',
  'with a as (select from accounts where part = $1) select from jobs where part = $1 for update',
  'insert into editor_slots (user_id) values ($1)',
])('no lock is taken for %s', (text) => {
  expect(locksReferenceTables(text)).toBe(false);
});
