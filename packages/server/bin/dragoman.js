#!/usr/bin/env node
// Starts the program. If the caller's Node is too old, it runs on the Node 24 of the package node-linux-ARCH, which
// `npm ci` installs.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const [major] = process.versions.node.split('.');
const library = `node-linux-${process.arch}`;

function findNode() {
  try {
    return createRequire(import.meta.url).resolve(`${library}/bin/node`);
  } catch {
    return undefined;
  }
}

/** Prints what is missing and the remedy. A release has JavaScript only; the repository has TypeScript. */
function refuse(cause = '') {
  const inRepository = program.endsWith('.ts');
  const remedy = inRepository
    ? 'Run npm ci in the repository, or install Node 24.'
    : `Install Node 24, or run: npm install -g --no-bin-links ${library}@24`;
  console.error(`dragoman needs Node 24 or later; this is Node ${process.versions.node}${cause}. ${remedy}`);
  process.exit(1);
}

/**
 * Ends this process with npx. On SIGTERM, npx stops only the shell that it started, and the shell passes no signal on.
 * The end of the parent process shows in its id, which no event announces.
 */
function endWithNpx() {
  if (process.env.npm_lifecycle_event !== 'npx') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 250);
  timer.unref();
}

endWithNpx();
if (Number(major) >= 24) {
  const { enableCompileCache } = await import('node:module');
  // Half of a start is compiling. Beside the libraries, where only who installed them writes: what is kept there is
  // run. Where it cannot be written, nothing is kept.
  enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/dragoman', import.meta.url)));
  const { main } = await import(program);
  await main(process.argv.slice(2));
} else {
  const node = findNode() ?? refuse();
  const child = spawn(node, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => refuse(` (${error.message})`));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.kill(process.pid, signal);
  });
}
