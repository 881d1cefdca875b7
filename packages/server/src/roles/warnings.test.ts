/** Tests the log lines of a server at its start, behind a proxy, and while its database is unreachable. */
import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import { createLog } from '../base/log.ts';
import { VERSION } from '../base/version.ts';
import { createConnection } from '../database/connections.ts';
import { administer } from '../testing/cluster.ts';
import { startTestServer, type TestServer, until } from '../testing/harness.ts';

let server: TestServer | undefined;
afterEach(async () => {
  vi.restoreAllMocks();
  await server?.stop();
  server = undefined;
});

type Line = Record<string, unknown> & { msg: string; level: string };

async function startLogging(settings: Record<string, string> = {}, role: 'all' | 'worker' = 'all') {
  const lines: Line[] = [];
  const log = createLog('debug', { write: (line) => lines.push(JSON.parse(line)) });
  server = await startTestServer({ log, settings, role });
  return { server, lines, saying: (words: RegExp) => lines.filter(({ msg }) => words.test(msg)) };
}

describe('a starting server', () => {
  it('logs its address, version and role, and logs that the worker runs', async () => {
    const { saying, server } = await startLogging({}, 'worker');
    const port = Number(new URL(server.url).port);
    expect(saying(/^listening/)).toMatchObject([{ level: 'info', version: VERSION, role: 'worker', port }]);
    expect(saying(/^working/)).toMatchObject([{ level: 'info', name: 'fake' }]);
  });

  it.each([0, 1000])('warns about running as root only if the user id is 0: user id %i', async (user) => {
    vi.spyOn(process as { getuid(): number }, 'getuid').mockReturnValue(user);
    const { saying } = await startLogging();
    expect(saying(/running as root/)).toHaveLength(user === 0 ? 1 : 0);
  });

  it.each([
    ['at-once', 'apertium=100', 1],
    ['at-once', '', 0],
    ['operator', 'apertium=100', 0],
  ])(
    'warns about engine costs when sandbox requests are set to "%s" and engine costs to "%s": %i warnings',
    async (requests, costs, times) => {
      const { saying } = await startLogging({
        DRAGOMAN_SANDBOX_REQUESTS: requests,
        DRAGOMAN_ENGINE_COSTS: costs,
      });
      expect(saying(/engines that you pay for/)).toHaveLength(times);
    },
  );

  it.each([
    ['an operator lets the sandbox use a paid engine', 'deepl', 'deepl', 1],
    ['the only engine is a remote one, which the sandbox does not use by default', '', 'deepl', 0],
  ])(
    'warns about paid engines, or about a sandbox without engines, when %s',
    async (_, sandboxEngines, engines, times) => {
      const { saying } = await startLogging({
        DRAGOMAN_SANDBOX_REQUESTS: 'at-once',
        DRAGOMAN_SANDBOX_ENGINES: sandboxEngines,
        DRAGOMAN_ENGINES: engines,
      });
      expect(saying(/engines that you pay for/)).toHaveLength(times);
      expect(saying(/the sandbox offers no language pair/)).toHaveLength(1 - times);
    },
  );

  it.each([
    ['0', 'apertium=100', 1],
    ['0', '', 0],
    ['1', 'apertium=100', 0],
  ])(
    'warns that machine translation is free when the price is %s and engine costs are set to "%s": %i warnings',
    async (price, costs, times) => {
      const { saying } = await startLogging({
        DRAGOMAN_PRICE_MACHINE: price,
        DRAGOMAN_ENGINE_COSTS: costs,
      });
      expect(saying(/machine translation is free/)).toHaveLength(times);
    },
  );
});

describe('a server behind a proxy', () => {
  const https = { DRAGOMAN_PUBLIC_URL: 'https://translate.example.com' };
  it.each([
    ['once when it trusts no proxy', https, 1],
    ['never when it trusts a proxy', { ...https, DRAGOMAN_TRUSTED_PROXIES: '127.0.0.0/8' }, 0],
    ['never when its public address has no https', {}, 0],
  ])('warns about X-Forwarded-For %s', async (_, settings, times) => {
    const { server, saying } = await startLogging(settings);
    expect(saying(/X-Forwarded-For/)).toHaveLength(0);
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    for (const path of ['/healthz', '/healthz']) await fetch(`${server.url}${path}`, { headers });
    expect(saying(/X-Forwarded-For/)).toHaveLength(times);
    expect(JSON.stringify(saying(/X-Forwarded-For/))).not.toContain('203.0.113.9');
  });

  it('warns once, without the value, when its trusted proxy sends no address', async () => {
    const { server, saying } = await startLogging({ DRAGOMAN_TRUSTED_PROXIES: '127.0.0.0/8' });
    const ask = (node: string) => fetch(`${server.url}/healthz`, { headers: { 'x-forwarded-for': node } });
    for (const node of ['203.0.113.9', '203.0.113.9:5000', '[2001:db8::1]:5000']) await ask(node);
    expect(saying(/X-Forwarded-For/)).toEqual([]);
    for (const node of ['unknown', '_hidden', '10.1']) await ask(node);
    expect(saying(/X-Forwarded-For/)).toMatchObject([{ level: 'warn' }]);
    expect(JSON.stringify(saying(/X-Forwarded-For/))).not.toMatch(/_hidden|10\.1/);
  });
});

describe('a server that loses its database', () => {
  it('logs one line when the database becomes unreachable and one line when it is reachable again', async () => {
    const { server, lines, saying } = await startLogging();
    const { connection } = inject('cluster');
    const { database } = createConnection(server.connection);
    lines.length = 0;
    await administer(connection, `alter database ${database} allow_connections false`);
    await administer(
      connection,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`,
    );
    // Waits until at least two loops of the worker have failed.
    await until(
      () => new Set(saying(/could not claim work|was interrupted/).map(({ name }) => name)).size >= 2,
    );
    const loud = lines.filter(({ level }) => level === 'warn' || level === 'error');
    expect(loud).toMatchObject([{ msg: 'database connection lost', code: expect.any(String) }]);
    await administer(connection, `alter database ${database} allow_connections true`);
    await until(() => saying(/the database is available again/).length === 1);
  });
});
