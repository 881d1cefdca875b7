/**
 * A scanner process whose tasks can last forever, like a bug in a document scanner. A text that contains
 * `endless:open` makes the task `open` endless, and likewise for the other tasks.
 */
import { runTasks } from '../scanning/run-tasks.ts';
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
  runTasks(Object.fromEntries(endless) as unknown as Tasks);
}
