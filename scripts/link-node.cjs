// Links node_modules/.bin/node to the Node 24 that npm installed. `prepare` runs this file first, on the caller's Node,
// which may be older, so this file is CommonJS. npm 9 and 10 remove the link when they remove the package for the other
// processor. npm on an older Node leaves out optional packages that need a newer one, such as the bundler's binary, so
// they are installed here, by the same npm on Node 24.
const { spawnSync } = require('node:child_process');
const { existsSync, mkdirSync, rmSync, symlinkSync } = require('node:fs');
const { join } = require('node:path');

const ROOT = join(__dirname, '..');
const isOld = (version) => Number.parseInt(version, 10) < 24;

/**
 * Links Node in a folder that contains `node_modules`.
 *
 * @param {string} folder
 * @param {string} running the version of the caller's Node
 * @returns {string | undefined} what to do, when neither the package nor the caller's Node can be used
 */
function linkNode(folder, running) {
  const name = `node-linux-${process.arch}`;
  const bin = join(folder, 'node_modules/.bin');
  const link = join(bin, 'node');
  rmSync(link, { force: true });
  const program = join(folder, 'node_modules', name, 'bin/node');
  // The program does not run on a Linux without glibc.
  if (existsSync(program) && spawnSync(program, ['--version']).status === 0) {
    mkdirSync(bin, { recursive: true });
    symlinkSync(join('..', name, 'bin/node'), link);
    return undefined;
  }
  if (!isOld(running)) return undefined;
  return (
    `Dragoman needs Node 24 or later. This is Node ${running}, and npm installed no Node 24 that runs on this ` +
    'machine. Install Node 24, then run npm ci again, without --omit=optional.'
  );
}

module.exports = { linkNode };

if (require.main === module) {
  const problem = linkNode(ROOT, process.versions.node);
  if (problem !== undefined) {
    console.error(problem);
    process.exit(1);
  }
  if (isOld(process.versions.node)) {
    const npm = [process.env.npm_execpath, 'install', '--no-save', '--ignore-scripts', '--loglevel=error'];
    const { status } = spawnSync(join(ROOT, 'node_modules/.bin/node'), npm, { cwd: ROOT, stdio: 'inherit' });
    linkNode(ROOT, process.versions.node);
    process.exit(status ?? 1);
  }
}
