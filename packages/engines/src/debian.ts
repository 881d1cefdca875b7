/**
 * Installs packages from Debian's archive with apt.
 *
 * - As root, or if `sudo -n` works: for the whole system, with `apt-get install`.
 * - As another user: into a private folder. apt-get only downloads, with its own lists, cache and archives; `dpkg-deb -x`
 *   unpacks the packages; programs run with their library path set. Nothing outside the folder changes.
 */

import { execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

export interface DebianOptions {
  /**
   * Folder for a private installation, used when this user may not install for the system. May be a relative
   * path.
   */
  root?: string;
  /** Installs into the private folder even when run as root. */
  private?: boolean;
  /** Names of packages that the private folder must contain even if the system has them. */
  complete?: RegExp;
  /** Packages that are left out when the release does not have them. */
  optional?: readonly string[];
  /** Receives the progress, line by line. */
  onProgress?: (line: string) => void;
}

/** Thrown when the installation fails. The message tells the operator what to do. */
export class InstallError extends Error {}

/** Name of the file in which a private installation lists its packages, as `{"apertium": "3.8.3-1+b2"}`. */
export const MANIFEST = 'packages.json';

const run = promisify(execFile);

/**
 * Installs packages. A private installation replaces the old one in its folder.
 *
 * @throws InstallError with a message for the operator
 */
export async function installPackages(
  packages: readonly string[],
  options: DebianOptions = {},
): Promise<void> {
  const report = options.onProgress ?? (() => {});
  const { optional = [] } = options;
  if (!existsSync('/usr/bin/apt-get') || !existsSync('/usr/bin/dpkg-deb')) {
    throw new InstallError(
      'Packages are installed from Debian’s archive, but this system has no apt-get. Run Dragoman on Debian or Ubuntu, ' +
        `for example in a container, or install these by other means: ${packages.join(' ')}`,
    );
  }
  const prefix = options.private === true ? null : await privilege();
  if (prefix !== null) await installForSystem(packages, optional, prefix, report);
  else if (options.root !== undefined) {
    await installInto(resolve(options.root), packages, optional, options.complete, report);
  } else {
    throw new InstallError(
      'This user may not install system packages, and no folder is set for a private installation. Run as root: ' +
        `apt-get install --no-install-recommends ${packages.join(' ')}`,
    );
  }
}

/** Returns the prefix with which commands run as root without a prompt, or null if that is impossible. */
async function privilege(): Promise<string[] | null> {
  if (process.getuid?.() === 0) return [];
  try {
    await run('sudo', ['-n', 'true'], { timeout: 5_000 });
    return ['sudo', '-n'];
  } catch {
    // The command fails when sudo is not installed or asks for a password.
    return null;
  }
}

async function installForSystem(
  packages: readonly string[],
  optional: readonly string[],
  prefix: readonly string[],
  report: (line: string) => void,
): Promise<void> {
  const wait = ['-o', 'DPkg::Lock::Timeout=120'];
  const update = (): Promise<void> => command([...prefix, 'apt-get', ...wait, 'update'], report);
  const install = (names: readonly string[]): Promise<void> =>
    command([...prefix, ...INSTALL_ENV, 'apt-get', ...wait, ...installWords(names)], report);
  if (!hasPackageLists()) await update();
  try {
    await install(packages);
  } catch {
    // Outdated package lists name files that the archive no longer has, so the lists are updated first.
    await update();
    await install(await withoutMissing(packages, optional));
  }
}

/** Returns the packages without the optional ones that the release does not have, as its package lists say. */
async function withoutMissing(
  packages: readonly string[],
  optional: readonly string[],
  options: readonly string[] = [],
): Promise<string[]> {
  const env = packageManagerEnvironment(process.env);
  const kept = packages.map(async (name) => {
    if (!optional.includes(name)) return [name];
    const { stdout } = await run('apt-cache', [...options, 'madison', name], { env });
    return stdout.trim() === '' ? [] : [name];
  });
  return (await Promise.all(kept)).flat();
}

/** `env` sets the variables, because sudo would remove them from its own environment. */
const INSTALL_ENV = ['env', 'DEBIAN_FRONTEND=noninteractive', 'LC_ALL=C'];

const installWords = (packages: readonly string[]): string[] => [
  'install',
  '--yes',
  '--no-install-recommends',
  ...packages,
];

function hasPackageLists(): boolean {
  try {
    return readdirSync('/var/lib/apt/lists').some((name) => name.includes('_Packages'));
  } catch {
    return false;
  }
}

async function installInto(
  root: string,
  packages: readonly string[],
  optional: readonly string[],
  complete: RegExp | undefined,
  report: (line: string) => void,
): Promise<void> {
  const work = `${root}.new-${process.pid}`;
  const apt = aptFolders(join(work, 'apt'));
  try {
    for (const folder of apt.folders) await mkdir(folder, { recursive: true });
    const status = await readFile('/var/lib/dpkg/status', 'utf8');
    await writeFile(apt.status, complete === undefined ? status : withoutPackages(status, complete));
    await command(['apt-get', ...apt.options, 'update'], report);
    const names = await withoutMissing(packages, optional, apt.options);
    await command(['apt-get', ...apt.options, '--download-only', ...installWords(names)], report);
    const tree = join(work, 'tree');
    await mkdir(tree);
    const manifest: Record<string, string> = {};
    for (const name of readdirSync(apt.archives).filter((each) => each.endsWith('.deb'))) {
      report(`Unpacking ${name}`);
      const file = join(apt.archives, name);
      await run('dpkg-deb', ['-x', file, tree]);
      // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own placeholders
      const format = '--showformat=${Package} ${Version}';
      const { stdout } = await run('dpkg-deb', ['-W', format, file]);
      const [pkg, version] = stdout.trim().split(' ');
      manifest[pkg!] = version!;
    }
    await writeFile(join(tree, MANIFEST), JSON.stringify(manifest, null, 2));
    await mkdir(dirname(root), { recursive: true });
    // The new installation replaces the old one atomically. The old one is removed with the work folder.
    if (existsSync(root)) await rename(root, join(work, 'old'));
    await rename(tree, root);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * Returns the library folders of a private tree: `usr/lib`, `lib` and their multiarch folders
 * (`x86_64-linux-gnu`).
 */
export function libraryFolders(root: string): string[] {
  const folders: string[] = [];
  for (const lib of ['usr/lib', 'lib']) {
    const folder = join(root, lib);
    if (!existsSync(folder)) continue;
    folders.push(folder);
    for (const entry of readdirSync(folder)) {
      if (entry.includes('-linux-')) folders.push(join(folder, entry));
    }
  }
  return folders;
}

/** Returns options with which apt-get works inside one folder, without locks and privileges. */
export function aptFolders(base: string): {
  options: string[];
  folders: string[];
  archives: string;
  status: string;
} {
  const lists = join(base, 'lists');
  const archives = join(base, 'archives');
  const state = join(base, 'state');
  const cache = join(base, 'cache');
  const status = join(state, 'status');
  const settings = {
    'Dir::State': state,
    'Dir::State::lists': lists,
    'Dir::State::status': status,
    'Dir::Cache': cache,
    'Dir::Cache::archives': archives,
    'Dir::Log': base,
    'Debug::NoLocking': '1',
    'APT::Sandbox::User': '',
    'APT::Keep-Downloaded-Packages': 'true',
    'APT::Get::List-Cleanup': 'false',
  };
  return {
    options: Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
    folders: [join(lists, 'partial'), join(archives, 'partial'), state, cache],
    archives,
    status,
  };
}

/**
 * Returns dpkg's status file without the packages whose names match, so that apt downloads all of them even if the
 * system has some. Other packages, such as libc and ICU, are used from the system.
 */
export function withoutPackages(status: string, names: RegExp): string {
  return status
    .split(/\n\n+/)
    .filter((stanza) => !names.test(/^Package: (.*)/m.exec(stanza)?.[1] ?? ''))
    .join('\n\n');
}

/**
 * Returns the environment of apt and dpkg without the program's settings. Packages run scripts, which must not see
 * the settings: the secret key, the database's address and the keys of engines.
 */
export function packageManagerEnvironment(all: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const passed = Object.entries(all).filter(([name]) =>
    /^(PATH|HOME|TMPDIR|APT_CONFIG|.*_proxy)$/i.test(name),
  );
  return { ...Object.fromEntries(passed), DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
}

/**
 * Runs a command and reports its output. @throws InstallError with the last lines of output when the command
 * fails
 */
function command(words: readonly string[], report: (line: string) => void): Promise<void> {
  const [program, ...args] = words;
  return new Promise((done, reject) => {
    const child = spawn(program!, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: packageManagerEnvironment(process.env),
    });
    const last: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        if (line.trim() === '') return;
        last.push(line);
        if (last.length > 5) last.shift();
        report(line);
      });
    }
    child.on('error', (error) =>
      reject(new InstallError(`${program} could not be started: ${error.message}`)),
    );
    child.on('close', (code) => {
      if (code === 0) done();
      else reject(new InstallError(`${words.join(' ')} failed with status ${code}:\n${last.join('\n')}`));
    });
  });
}
