/**
 * Puts Apertium on the machine, from Debian's package archive through apt and from nowhere else.
 *
 * - As root, or where `sudo -n` works: for the whole system, with `apt-get install`.
 * - As an ordinary user: into a folder of its own. apt-get works there with private lists, cache and archives and only
 *   downloads; `dpkg-deb -x` unpacks; the programs run from there with their library path set. No root is needed, and
 *   nothing outside the folder changes.
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
  /** Debian packages of language pairs; default: the twelve of the seven languages. */
  packages?: readonly string[];
  /** Adds the four packages for da sv nb nn. */
  scandinavian?: boolean;
  /** Where the private tree goes if this user may not install for the system. Absolute or relative to the cwd. */
  root?: string;
  /** Always make the private tree, even as root. */
  private?: boolean;
  /** Told what is done, a line at a time. */
  onProgress?: (line: string) => void;
}

/** It could not be installed; the message says what to do. */
export class InstallError extends Error {}

const run = promisify(execFile);

/**
 * Installs what is missing and does nothing when nothing is. First use takes 10 to 60 s and fetches 37 MB.
 *
 * @throws InstallError with a sentence for the operator
 */
export async function installApertium(options: InstallOptions = {}): Promise<void> {
  const packages = [
    ...(options.packages ?? DEFAULT_PACKAGES),
    ...(options.scandinavian === true ? SCANDINAVIAN_PACKAGES : []),
  ];
  const say = options.onProgress ?? (() => {});
  const where = options.root === undefined ? {} : { root: options.root };
  const found = await findApertium({ ...where, packages });
  if (found.missing.length === 0 && (options.private !== true || found.where !== 'the system')) return;
  if (!existsSync('/usr/bin/apt-get') || !existsSync('/usr/bin/dpkg-deb')) throw new InstallError(NOT_DEBIAN);
  const prefix = options.private === true ? null : await privilege();
  if (prefix !== null && found.where === 'the system') await installForSystem(packages, prefix, say);
  else if (options.root !== undefined) {
    // The tree is made anew, so the pairs it already has are asked for again.
    const had = Object.keys(found.where === 'the system' ? {} : found.packages).filter((name) =>
      PAIRS.has(name),
    );
    await installInto(resolve(options.root), [...new Set([...packages, ...had])], say);
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
  'Apertium is installed from Debian’s packages, and this system has no apt-get. Run Dragoman on Debian or Ubuntu ' +
  '(a container will do), or install Apertium 3.8 with its pairs under /usr by other means and start again.';

const NO_RIGHT =
  'This user may not install packages for the system, and no folder was named for a private copy. Run as root: ' +
  `apt-get install --no-install-recommends apertium ${DEFAULT_PACKAGES.join(' ')}`;

/** How to run a command as root without a question: nothing before it, or `sudo -n`. Null when there is no way. */
async function privilege(): Promise<string[] | null> {
  if (process.getuid?.() === 0) return [];
  try {
    await run('sudo', ['-n', 'true'], { timeout: 5_000 });
    return ['sudo', '-n'];
  } catch {
    // No sudo, or it would ask for a password: then the private tree it is.
    return null;
  }
}

async function installForSystem(
  packages: readonly string[],
  prefix: readonly string[],
  say: (line: string) => void,
): Promise<void> {
  const wait = ['-o', 'DPkg::Lock::Timeout=120'];
  const update = (): Promise<void> => command([...prefix, 'apt-get', ...wait, 'update'], say);
  const install = (): Promise<void> =>
    command([...prefix, ...INSTALL_ENV, 'apt-get', ...wait, ...installWords(packages)], say);
  if (!hasPackageLists()) await update();
  try {
    await install();
  } catch {
    // Old lists name files that are gone from the archive, so once more with new ones.
    await update();
    await install();
  }
}

/** Through `env`, because sudo drops the environment. */
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
  say: (line: string) => void,
): Promise<void> {
  const work = `${root}.new-${process.pid}`;
  const apt = aptFolders(join(work, 'apt'));
  try {
    for (const folder of apt.folders) await mkdir(folder, { recursive: true });
    await writeFile(apt.status, withoutApertium(await readFile('/var/lib/dpkg/status', 'utf8')));
    await command(['apt-get', ...apt.options, 'update'], say);
    await command(['apt-get', ...apt.options, '--download-only', ...installWords(packages)], say);
    const tree = join(work, 'tree');
    await mkdir(tree);
    const manifest: Record<string, string> = {};
    for (const name of readdirSync(apt.archives).filter((each) => each.endsWith('.deb'))) {
      say(`Unpacking ${name}`);
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
    // The tree appears whole or not at all; one that was there goes with the work folder.
    if (existsSync(root)) await rename(root, join(work, 'old'));
    await rename(tree, root);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Options that keep apt-get inside one folder, needing no lock and no right. */
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
 * dpkg's status file without Apertium's own packages, so that apt fetches all of them even where the system has some:
 * the tree must be whole. Everything else the system has (libc, ICU) is taken from the system.
 */
export function withoutApertium(status: string): string {
  return status
    .split(/\n\n+/)
    .filter((stanza) => !/^Package: (lib)?(apertium|lttoolbox|cg3)/m.test(stanza))
    .join('\n\n');
}

/**
 * The environment of apt and dpkg. The program's own settings stay out of it: they hold the secret key, the database's
 * address and the keys of engines, and packages run scripts.
 */
export function packageManagerEnvironment(all: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const passed = Object.entries(all).filter(([name]) =>
    /^(PATH|HOME|TMPDIR|APT_CONFIG|.*_proxy)$/i.test(name),
  );
  return { ...Object.fromEntries(passed), DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
}

/** Runs a command, telling its output; rejects with its last lines when it fails. */
function command(words: readonly string[], say: (line: string) => void): Promise<void> {
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
        say(line);
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
