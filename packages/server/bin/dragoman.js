#!/usr/bin/env node
// Starts the program on the Node that `npm ci` installed if the caller's Node is too old.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const [major] = process.versions.node.split('.');
if (Number(major) >= 24) {
  const { enableCompileCache } = await import('node:module');
  // Half of a start is compiling. Beside the libraries, where only who installed them writes: what is kept there is
  // run. Where it cannot be written, nothing is kept.
  enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/dragoman', import.meta.url)));
  const { main } = await import(program);
  await main(process.argv.slice(2));
} else {
  const node = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url));
  const child = spawn(node, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    const cause = error.code === 'ENOENT' ? '' : ` (${error.message})`;
    console.error(`dragoman needs Node 24 or later; this is Node ${process.versions.node}${cause}.`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.kill(process.pid, signal);
  });
}
