/**
 * Finds the Debian tools that benchmarks compare with. A missing tool is installed when this process runs as root.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';

/** Returns the path of pgbench, which may not be in `PATH`. */
export function pgbench(): string {
  return find('pgbench') ?? install('postgresql-15', 'pgbench');
}

export function wrk(): string {
  return find('wrk') ?? install('wrk', 'wrk');
}

/** Returns the path of `apertium-apy`, Apertium's web service. */
export function apertiumApy(): string {
  return find('apertium-apy') ?? install('apertium-apy', 'apertium-apy');
}

/** Returns the path of libfaketime. If `LD_PRELOAD` names this library, it changes the clock of a program. */
export function faketime(): string {
  const locate = () =>
    readdirSync('/usr/lib')
      .map((folder) => `/usr/lib/${folder}/faketime/libfaketime.so.1`)
      .find((path) => existsSync(path));
  const found = locate();
  if (found !== undefined) return found;
  install('faketime', 'faketime');
  return locate()!;
}

function find(tool: string): string | undefined {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const folders = [
    ...(process.env.PATH ?? '').split(':'),
    ...versions.map((v) => `/usr/lib/postgresql/${v}/bin`),
  ];
  return folders.map((folder) => `${folder}/${tool}`).find((path) => existsSync(path));
}

function install(debianPackage: string, tool: string): string {
  const sentence = `The benchmark needs ${tool}. Run as root: apt-get install ${debianPackage}`;
  if (process.getuid?.() !== 0) throw new Error(sentence);
  process.stderr.write(`installing ${debianPackage} …\n`);
  execFileSync('apt-get', ['install', '-y', '--no-install-recommends', debianPackage], { stdio: 'ignore' });
  const found = find(tool);
  if (found === undefined) throw new Error(sentence);
  return found;
}
