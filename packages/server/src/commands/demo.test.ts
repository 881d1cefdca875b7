/** Tests `npm run demo -- --yes --exit`, as after a new clone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findApertium } from '@dragoman/engines';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { privateApertium } from '../../../../scripts/test-tools.ts';
import { modeNamed, OPTIONAL_PACKAGES } from '../../../engines/src/apertium/modes.ts';
import { ROUTES } from '../../../engines/src/apertium/routes.ts';
import { JOBS } from './demo.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const { missing } = await findApertium(privateApertium());
/**
 * Skips the test where the offline engine is not installed, because the demo would install it. In CI the test
 * runs.
 */
const test = it.skipIf(missing.length > 0 && process.env.CI !== 'true');

const data = mkdtempSync(join(tmpdir(), 'dragoman-demo-'));
/** A server that occupies the port of the demo. */
const neighbour = createServer((_, response) => response.end('not the demo'));
beforeAll(() => new Promise<void>((resolve) => neighbour.listen(0, '127.0.0.1', resolve)));
afterAll(async () => {
  await new Promise((resolve) => neighbour.close(resolve));
  rmSync(data, { recursive: true, force: true });
});

it('the demo needs no package that a release of Debian lacks', () => {
  const routes = JOBS.flatMap(({ body }) => ROUTES[`${body.source_language}>${body.target_language}`]!);
  const packages = routes.map((mode) => modeNamed(mode)!.package);
  expect(packages.filter((name) => OPTIONAL_PACKAGES.includes(name))).toEqual([]);
});

test('the demo translates, delivers with valid signatures and exits with 0, even when its port is in use', async () => {
  const { port } = neighbour.address() as AddressInfo;
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(DRAGOMAN_(?!APERTIUM_ROOT)|DATABASE_URL$|NODE_OPTIONS$|VITEST)/.test(name),
  );
  const demo = spawn('npm', ['run', 'demo', '--', '--yes', '--exit'], {
    cwd: ROOT,
    env: { ...Object.fromEntries(inherited), DRAGOMAN_DATA: data, DRAGOMAN_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  demo.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  demo.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [status] = await once(demo, 'close');

  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringMatching(/^\s+at /m) });
  expect(stderr).toContain(`port ${port} is taken; using a free one`);
  const sent = stdout.match(/^sent /gm)?.length ?? 0;
  expect(sent).toBeGreaterThan(1);
  expect(stdout.match(/^created {5}201, status /gm)).toHaveLength(sent);
  const delivered = stdout.match(
    /^delivered {3}after [\d.]+ s, webhook-id [0-9a-f-]{36}, signature valid$/gm,
  );
  expect(delivered).toHaveLength(sent);
  expect(new Set(delivered).size).toBe(sent);
  expect(stdout).toContain(`All ${sent} deliveries arrived, each with a valid signature.`);
  expect(stdout).toContain(
    'for better translations, install a neural model: dragoman model pull en-es; on a machine without internet access, add --from FOLDER',
  );
  // The Spanish paragraph keeps its e-mail address and its line breaks.
  const paragraph = /^translated {2}(.*casa.*)\n +\n(.*)$/m.exec(stdout) ?? [];
  expect(paragraph[1]).toMatch(/familia/);
  expect(paragraph[2]).toMatch(/invierno.*house@example\.com/);
  // The translation in the sandbox keeps the variable and the URL.
  expect(stdout).toMatch(/^translated {2}.*\{order_id\}.*https:\/\/example\.com\/news/m);
});
