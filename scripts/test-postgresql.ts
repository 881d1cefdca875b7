// Runs tests of the server on Debian's PostgreSQL, through DATABASE_URL. As root or with sudo, it installs a missing
// PostgreSQL. Otherwise it reports that PostgreSQL is missing and runs no test.
import { spawnSync } from 'node:child_process';
import { findDebianPostgresql, startDebianServer } from './debian-postgresql.ts';
import { FULL } from './full.ts';

const bin = await findDebianPostgresql();
if (bin === undefined) {
  console.error('Debian’s PostgreSQL is not installed. Its tests were not run.');
  process.exit(process.env.CI === 'true' ? 1 : 0);
}

// Test data need not be durable. `testing/cluster.ts` has the same settings.
const server = await startDebianServer(bin, {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
});
try {
  // The SQL is the same on every server. The tests that depend on the server's own behaviour run each time.
  const own = ['schema', 'database', 'migrations', 'requirements'].map((name) => `database/${name}`);
  // Its planner decides how much a page of a list reads.
  const always = ['work/', 'ledger/verify', 'tenants', 'jobs/list-cost', ...own];
  const tests = FULL ? [...always, 'jobs/', 'brands/', 'ledger/', 'accounts/'] : always;
  const { status } = spawnSync('npx', ['vitest', 'run', '--project', 'server', ...tests], {
    stdio: 'inherit',
    env: { ...process.env, DATABASE_URL: server.url('postgres') },
  });
  process.exitCode = status ?? 1;
} finally {
  await server.stop();
}
