/** Writes the client as a package of plain JavaScript with type declarations. */
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CLIENT = join(ROOT, 'packages/client');

/**
 * Compiles the client and writes its package. Only the types of the web platform are available to the compiler, so
 * that using a feature of Node.js is an error.
 *
 * @param directory where the package is written; existing files are deleted first
 */
export function writeClientPackage(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const project = join(CLIENT, 'tsconfig.build.json');
  execFileSync(process.execPath, [compiler, '-p', project, '--outDir', directory], { stdio: 'pipe' });
  const { name, version, license, type, engines } = JSON.parse(
    readFileSync(join(CLIENT, 'package.json'), 'utf8'),
  );
  const manifest = {
    name,
    version,
    description: 'The TypeScript client of Dragoman, an open, self-hostable translation service.',
    license,
    type,
    engines,
    exports: { '.': { types: './client.d.ts', default: './client.js' } },
    // The fields `main` and `types` are for tools that do not read `exports`.
    main: './client.js',
    types: './client.d.ts',
  };
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(CLIENT, 'README.md'), join(directory, 'README.md'));
  cpSync(join(ROOT, 'LICENSE'), join(directory, 'LICENSE'));
}
