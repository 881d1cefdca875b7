/**
 * A scanner process whose tasks can last forever, like a bug in a document scanner. A text that contains
 * `endless:open` makes the task `open` endless, and likewise for the other tasks. An endless task gets a tenth of its
 * limit, so that tests need little processor time; the other tasks keep a limit that they never reach.
 */
import { runTasks, type TaskRequest } from '../scanning/run-tasks.ts';
import { TASKS, type Tasks } from '../scanning/tasks.ts';

export const ENDLESS = new URL(import.meta.url);

const endless = Object.entries(TASKS).map(([name, run]) => [
  name,
  (task: { text: string }) => {
    while (task.text.includes(`endless:${name}`));
    return (run as (task: { text: string }) => unknown)(task);
  },
]);

if (process.send !== undefined && process.argv[1] === ENDLESS.pathname) {
  process.on('message', (request: TaskRequest) => {
    const { text } = request.task as { text: string };
    if (text.includes(`endless:${request.name}`)) request.limitMilliseconds /= 10;
  });
  runTasks(Object.fromEntries(endless) as unknown as Tasks);
}
