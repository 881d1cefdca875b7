/** Tools that benchmarks measure against, from Debian's packages: found, or installed as root. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';

/** Where pgbench is; it is not always on the path. */
export function pgbench(): string {
  return find('pgbench') ?? install('postgresql-15', 'pgbench');
}

export function wrk(): string {
  return find('wrk') ?? install('wrk', 'wrk');
}

/** The web service of Apertium's own people. */
export function apertiumApy(): string {
  return find('apertium-apy') ?? install('apertium-apy', 'apertium-apy');
}

/** The library that gives a program another wall clock, to be loaded before its own. */
export function faketime(): string {
  const there = () =>
    readdirSync('/usr/lib')
      .map((folder) => `/usr/lib/${folder}/faketime/libfaketime.so.1`)
      .find((path) => existsSync(path));
  const found = there();
  if (found !== undefined) return found;
  install('faketime', 'faketime');
  return there()!;
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
