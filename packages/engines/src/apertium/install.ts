/**
 * Installs Apertium from Debian's package archive with apt.
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
import { findApertium, MANIFEST } from './find.ts';
import { DEFAULT_PACKAGES, SCANDINAVIAN_PACKAGES } from './modes.ts';

export interface InstallOptions {
  /** Debian packages of language pairs to install. Default: {@link DEFAULT_PACKAGES}. */
  packages?: readonly string[];
  /** Also installs {@link SCANDINAVIAN_PACKAGES}. */
  scandinavian?: boolean;
  /**
   * Folder for a private installation, used when this user may not install for the system. May be a relative
   * path.
   */
  root?: string;
  /** Installs into the private folder even when run as root. */
  private?: boolean;
  /** Receives the progress, line by line. */
  onProgress?: (line: string) => void;
}

/** Thrown when the installation fails. The message tells the operator what to do. */
export class InstallError extends Error {}

const run = promisify(execFile);

/**
 * Installs missing packages. The first installation takes 10 to 60 s and downloads 37 MB.
 *
 * @throws InstallError with a message for the operator
 */
export async function installApertium(options: InstallOptions = {}): Promise<void> {
  const packages = [
    ...(options.packages ?? DEFAULT_PACKAGES),
    ...(options.scandinavian === true ? SCANDINAVIAN_PACKAGES : []),
  ];
  const report = options.onProgress ?? (() => {});
  const where = options.root === undefined ? {} : { root: options.root };
  const found = await findApertium({ ...where, packages });
  if (found.missing.length === 0 && (options.private !== true || found.where !== 'the system')) return;
  if (!existsSync('/usr/bin/apt-get') || !existsSync('/usr/bin/dpkg-deb')) throw new InstallError(NOT_DEBIAN);
  const prefix = options.private === true ? null : await privilege();
  if (prefix !== null && found.where === 'the system') await installForSystem(packages, prefix, report);
  else if (options.root !== undefined) {
    // A new private installation replaces the old one, so it must contain the language pairs of the old one too.
    const had = Object.keys(found.where === 'the system' ? {} : found.packages).filter((name) =>
      PAIRS.has(name),
    );
    await installInto(resolve(options.root), [...new Set([...packages, ...had])], report);
  } else throw new InstallError(NO_RIGHT);
  const after = await findApertium({ ...where, packages });
  if (after.missing.length > 0) {
    throw new InstallError(
      `apt-get reported success, but these are still missing: ${after.missing.join(', ')}`,
    );
  }
}

const PAIRS = new Set([...DEFAULT_PACKAGES, ...SCANDINAVIAN_PACKAGES]);

const NOT_DEBIAN =
  'Apertium is installed from Debian packages, but this system has no apt-get. Run Dragoman on Debian or Ubuntu, ' +
  'for example in a container, or install Apertium 3.8 and its language pairs under /usr by other means, then restart.';

const NO_RIGHT =
  'This user may not install system packages, and no folder is set for a private installation. Run as root: ' +
  `apt-get install --no-install-recommends apertium ${DEFAULT_PACKAGES.join(' ')}`;

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
  prefix: readonly string[],
  report: (line: string) => void,
): Promise<void> {
  const wait = ['-o', 'DPkg::Lock::Timeout=120'];
  const update = (): Promise<void> => command([...prefix, 'apt-get', ...wait, 'update'], report);
  const install = (): Promise<void> =>
    command([...prefix, ...INSTALL_ENV, 'apt-get', ...wait, ...installWords(packages)], report);
  if (!hasPackageLists()) await update();
  try {
    await install();
  } catch {
    // Outdated package lists name files that the archive no longer has, so the lists are updated first.
    await update();
    await install();
  }
}

/** `env` sets the variables, because sudo would remove them from its own environment. */
const INSTALL_ENV = ['env', 'DEBIAN_FRONTEND=noninteractive', 'LC_ALL=C'];

const installWords = (packages: readonly string[]): string[] => [
  'install',
  '--yes',
  '--no-install-recommends',
  'apertium',
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
  report: (line: string) => void,
): Promise<void> {
  const work = `${root}.new-${process.pid}`;
  const apt = aptFolders(join(work, 'apt'));
  try {
    for (const folder of apt.folders) await mkdir(folder, { recursive: true });
    await writeFile(apt.status, withoutApertium(await readFile('/var/lib/dpkg/status', 'utf8')));
    await command(['apt-get', ...apt.options, 'update'], report);
    await command(['apt-get', ...apt.options, '--download-only', ...installWords(packages)], report);
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
 * Returns dpkg's status file without Apertium's packages, so that apt downloads all of them even if the
 * system has some: the private tree must be complete. Other packages, such as libc and ICU, are used from
 * the system.
 */
export function withoutApertium(status: string): string {
  return status
    .split(/\n\n+/)
    .filter((stanza) => !/^Package: (lib)?(apertium|lttoolbox|cg3)/m.test(stanza))
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
