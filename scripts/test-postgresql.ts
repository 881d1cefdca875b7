// Runs tests of the server on Debian's PostgreSQL, through DATABASE_URL. As root or with sudo, it installs a missing
// PostgreSQL. Otherwise it reports that PostgreSQL is missing and runs no test.
import { execFileSync, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { installPackages } from '@dragoman/engines/debian';
import { FULL } from './full.ts';

const HOME = '/usr/lib/postgresql';
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

function newestBinaries(): string | undefined {
  const versions = existsSync(HOME) ? readdirSync(HOME).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(HOME, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
}

if (newestBinaries() === undefined) {
  await installPackages(['postgresql'], { onProgress: (line) => console.error(`  ${line}`) }).catch(
    (error) => {
      console.error(error.message);
    },
  );
}
const bin = newestBinaries();
if (bin === undefined) {
  console.error('Debian’s PostgreSQL is not installed. Its tests were not run.');
  process.exit(process.env.CI === 'true' ? 1 : 0);
}

// The path is short, because the path of a Unix socket may have at most 107 bytes. Root starts the server as
// `nobody`, so `nobody` must own the folder.
const directory = mkdtempSync('/tmp/pg-test-');
const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
if (isRoot) chownSync(directory, NOBODY, NOBODY);
const data = join(directory, 'data');
const options: SpawnOptions = { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'], ...identity };
execFileSync(
  join(bin, 'initdb'),
  ['-D', data, '-U', 'owner', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
  options,
);
const settings = [
  '-c',
  'listen_addresses=',
  '-c',
  `unix_socket_directories=${directory}`,
  '-c',
  'log_min_messages=fatal',
  // Test data need not be durable. `testing/cluster.ts` has the same settings.
  '-c',
  'fsync=off',
  '-c',
  'synchronous_commit=off',
  '-c',
  'full_page_writes=off',
];
const server = spawn(join(bin, 'postgres'), ['-D', data, ...settings], options);
const ended = new Promise((resolve) => server.on('exit', resolve));
try {
  while (!existsSync(join(directory, '.s.PGSQL.5432')))
    await new Promise((resolve) => setTimeout(resolve, 50));
  const url = `postgres://owner@localhost/postgres?host=${encodeURIComponent(directory)}`;
  // The SQL is the same on every server. The tests that depend on the server's own behaviour run each time.
  const always = ['work/', 'ledger/verify', 'database/schema', 'database/database', 'tenants'];
  const tests = FULL ? [...always, 'jobs/', 'brands/', 'ledger/', 'accounts/'] : always;
  const { status } = spawnSync('npx', ['vitest', 'run', '--project', 'server', ...tests], {
    stdio: 'inherit',
    env: { ...process.env, DATABASE_URL: url },
  });
  process.exitCode = status ?? 1;
} finally {
  server.kill('SIGINT');
  await ended;
  rmSync(directory, { recursive: true, force: true });
}
