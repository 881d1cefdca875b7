/** The client as a package of plain JavaScript, as a program that knows nothing of TypeScript uses it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { writeClientPackage } from '../../../scripts/client-package.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-client-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const PROGRAM = `
import { createDragoman, verifyWebhook } from '@dragoman/client';
const fetch = async (address) => Response.json({ asked: String(address) });
const dragoman = createDragoman({ baseUrl: 'http://127.0.0.1:1', key: 'acme:key', fetch });
const { asked } = await dragoman.jobs.get('one');
const secret = 'whsec_' + btoa('a'.repeat(24));
console.log(asked, JSON.stringify(await verifyWebhook({ secret, headers: {}, body: '' })));
`;

it('needs nothing but the web platform, and no other package', () => {
  const installed = join(directory, 'node_modules/@dragoman/client');
  mkdirSync(join(installed, '..'), { recursive: true });
  writeClientPackage(installed);
  const modules = readdirSync(installed).filter((name) => name.endsWith('.js'));
  expect(modules).toContain('client.js');
  for (const name of modules) {
    const imports = readFileSync(join(installed, name), 'utf8').matchAll(/from '([^']+)'/g);
    for (const [, from] of imports) expect(from).toMatch(/^\.\/\w+\.js$/);
  }
  writeFileSync(join(directory, 'program.mjs'), PROGRAM);
  const printed = execFileSync(process.execPath, ['--no-strip-types', join(directory, 'program.mjs')]);
  expect(String(printed)).toBe(
    'http://127.0.0.1:1/tapi/v2/translation/one/ {"ok":false,"reason":"malformed"}\n',
  );
});
