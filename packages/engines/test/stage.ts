/**
 * A program that the tests run as a process (a stage) of a pipeline. It replaces `big` by `grande` in each
 * NUL-terminated segment, unless the segment contains a word that triggers a fault. If its argument names an
 * existing file, it exits at once.
 */

import { existsSync } from 'node:fs';

const [flag] = process.argv.slice(2);
if (flag !== undefined && existsSync(flag)) process.exit(3);

/** Faults of replies to a stream with an underscore, or with both `ONE` and `TWO`. The stream ends with its id. */
const SPOILS: ((stream: string) => string)[] = [
  (stream) => `^${stream}`,
  (stream) => `@ # ${stream}`,
  (stream) => `program+es+ho ${stream}`,
  (stream) => `[[t:b:99]]lost[[/]] ${stream}`,
  (stream) => `] ${stream}`,
  (stream) => `${'lost '.repeat(300)}${stream}`,
  (stream) => stream.slice(stream.lastIndexOf('[@')),
];

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  const parts = (rest + chunk).split('\0');
  rest = parts.pop() ?? '';
  for (const part of parts) answer(part);
});

function answer(stream: string): void {
  if (stream.includes('DIE')) process.kill(process.pid, 'SIGKILL');
  else if (stream.includes('EXIT')) process.exit(0);
  else if (stream.includes('HANG')) process.stdin.pause();
  else if (stream.includes('EMPTY')) process.stdout.write('\0');
  else if (stream.includes('GARBAGE')) process.stdout.write('no id at all\0');
  else if (stream.includes('FLOOD')) process.stdout.write('x'.repeat(3_000_000));
  else if (stream.includes('UNIT')) process.stdout.write(`${stream.replace('UNIT', '^unit<n>$')}\0`);
  else if (stream.includes('SHORT')) process.stdout.write(`${stream.slice(stream.lastIndexOf('[@'))}\0`);
  else if (stream.includes('_') || (stream.includes('ONE') && stream.includes('TWO')))
    process.stdout.write(`${SPOILS[stream.length % SPOILS.length]!(stream)}\0`);
  else process.stdout.write(`${stream.replaceAll('big', 'grande')}\0`);
}
