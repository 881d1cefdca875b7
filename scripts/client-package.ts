// Writes the client as a package of plain JavaScript with its types, for programs that do not run TypeScript:
// `npm run client-package`, then `npm install …/packages/client/dist`.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CLIENT = join(ROOT, 'packages/client');

/** Compiles with the types of the web platform alone: what only Node has would be an error here. */
export function writeClientPackage(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const project = join(CLIENT, 'tsconfig.build.json');
  execFileSync(process.execPath, [compiler, '-p', project, '--outDir', directory], { stdio: 'pipe' });
  const { name, version, license, type, engines } = JSON.parse(
    readFileSync(join(CLIENT, 'package.json'), 'utf8'),
  );
  const exports = { '.': { types: './client.d.ts', default: './client.js' } };
  const manifest = { name, version, license, type, engines, exports };
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

if (import.meta.main) writeClientPackage(join(CLIENT, 'dist'));
