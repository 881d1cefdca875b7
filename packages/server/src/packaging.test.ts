/** Checks that the image and the repository contain the program but no secrets. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { expect, it } from 'vitest';
import { describeSettings, loadSettings } from './settings/settings.ts';

const ROOT = new URL('../../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8');

it('the container image contains only the files and folders that this test lists', () => {
  const rules = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(rules[0]).toBe('*');
  const allowed = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
  expect(allowed).toEqual([
    'package.json',
    'package-lock.json',
    'packages',
    'scripts',
    'docs',
    'examples',
    'deploy',
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'tsconfig.json',
  ]);
  for (const secret of ['**/.env*', '**/secret.key']) {
    expect(rules.indexOf(secret)).toBeGreaterThan(rules.lastIndexOf('!scripts'));
  }
});

it.each(['.env', '.env.local', 'secret.key', 'secrets/secret_key', 'acme.json', 'nightly.backup'])(
  'git ignores %s',
  (file) => {
    const ignored = execFileSync('git', ['check-ignore', '--no-index', file], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect(ignored.trim()).toBe(file);
  },
);

it('each package that npm downloads has a checksum in the lock file, for every system', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { link?: true; integrity?: string }>;
  };
  const downloaded = Object.entries(packages).filter(
    ([path, { link }]) => /node_modules\//.test(path) && !link,
  );
  expect(downloaded.length).toBeGreaterThan(100);
  expect(downloaded.flatMap(([path, { integrity }]) => (integrity === undefined ? [path] : []))).toEqual([]);
});

interface Service {
  command: string[];
  env_file: string;
  environment: Record<string, string>;
  volumes: string[];
  ports?: string[];
  profiles?: string[];
}
const compose = parseYaml(read('compose.yaml')) as { services: Record<string, Service>; secrets: object };

/** Returns what Compose writes for `${NAME:-default}` and `${NAME:?message}`. */
const interpolated = (text: string, variables: Record<string, string>): string =>
  text.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, rest: string) => {
    if (variables[name]) return variables[name];
    if (kind === '?') throw new Error(`${name}: ${rest}`);
    return rest;
  });

/** Returns the variables that the program gets in a container, as Compose makes them from `.env` and `environment`. */
function variablesOf(service: Service, dotenv: Record<string, string>): Record<string, string> {
  expect(service.env_file).toBe('.env');
  const own = Object.entries(service.environment).map(([name, value]) => [name, interpolated(value, dotenv)]);
  return { ...dotenv, ...Object.fromEntries(own) };
}

/** The settings that the container decides. */
const OF_CONTAINER = {
  DRAGOMAN_DATA: '/data',
  DRAGOMAN_HOST: '0.0.0.0',
  DRAGOMAN_PORT: '8080',
  DATABASE_URL_FILE: '/run/secrets/database_url',
  DRAGOMAN_SECRET_KEY_FILE: '/run/secrets/secret_key',
};

it.each(['dragoman', 'worker'])('compose.yaml passes each setting of .env on to the service %s', (name) => {
  const names = describeSettings().flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name]));
  const dotenv = Object.fromEntries(names.map((name) => [name, `the value of ${name}`]));
  expect(variablesOf(compose.services[name]!, dotenv)).toEqual({ ...dotenv, ...OF_CONTAINER });
});

it.each(['dragoman', 'worker'])(
  'compose.yaml starts the service %s with the secrets of its folder',
  (name) => {
    const service = compose.services[name]!;
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-compose-'));
    const key = Buffer.alloc(32, 7);
    writeFileSync(join(folder, 'database_url'), 'postgres://dragoman:secret@database:5432/dragoman\n');
    writeFileSync(join(folder, 'secret_key'), `${key.toString('base64')}\n`);
    writeFileSync(join(folder, 'deepl_key'), 'secret\n');
    expect(service.volumes).toContain('./secrets:/run/secrets:ro');
    const dotenv = {
      DRAGOMAN_PUBLIC_URL: 'https://translate.example.com',
      DRAGOMAN_DEEPL_KEY_FILE: '/run/secrets/deepl_key',
    };
    const variables = Object.entries(variablesOf(service, dotenv)).map(([name, value]) => [
      name,
      value.replace('/run/secrets', folder),
    ]);
    expect(loadSettings(Object.fromEntries(variables))).toMatchObject({
      databaseUrl: 'postgres://dragoman:secret@database:5432/dragoman',
      secretKey: key,
      deeplKey: 'secret',
      publicUrl: 'https://translate.example.com',
      trustedProxies: ['172.30.241.1/32'],
    });
    expect(() => variablesOf(service, {})).toThrow('DRAGOMAN_PUBLIC_URL: set it in .env');
    rmSync(folder, { recursive: true });
  },
);

it('compose.yaml runs one process, or an API process and workers', () => {
  const { dragoman, worker } = compose.services;
  const roleOf = ({ command }: Service, role?: string) =>
    command.map((word) => interpolated(word, role === undefined ? {} : { ROLE: role })).join(' ');
  expect([roleOf(dragoman!), roleOf(dragoman!, 'api'), roleOf(worker!)]).toEqual([
    'serve --role all',
    'serve --role api',
    'serve --role worker',
  ]);
  expect([dragoman!.profiles, worker!.profiles, worker!.ports]).toEqual([undefined, ['workers'], undefined]);
  expect(dragoman!.ports).toEqual(['127.0.0.1:8080:8080']);
});
