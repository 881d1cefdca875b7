/**
 * A scanner process that dies after the first part of a list, unless the file exists that the text of the task names.
 * It creates the file before, so that the next process sends the whole list.
 */
import { existsSync, writeFileSync } from 'node:fs';
import type { TaskRequest } from '../scanning/run-tasks.ts';

export const DIES_IN_LIST = new URL(import.meta.url);

if (process.send !== undefined && process.argv[1] === DIES_IN_LIST.pathname) {
  process.on('message', ({ task }: TaskRequest) => {
    const { text } = task as { text: string };
    const isFirst = !existsSync(text);
    writeFileSync(text, '');
    process.send!({ part: [1, 2] }, () => {
      if (isFirst) process.exit(1);
      process.send!({ part: [3] });
      process.send!({ ended: true });
    });
  });
}
