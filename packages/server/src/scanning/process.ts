/** What one of the processes runs in which texts are looked through: it does what it is sent, one task after another. */
import * as tasks from './tasks.ts';

const TASKS = {
  align: tasks.alignSupplied,
  assemble: tasks.assemble,
  count: tasks.count,
  describe: tasks.describeSegments,
  examine: tasks.examine,
  open: tasks.open,
};

/** The tasks that can be sent. */
export type Tasks = typeof TASKS;

export interface Asked {
  name: keyof Tasks;
  task: unknown;
}

export type Answer = { result: unknown } | { error: unknown };

process.on('message', ({ name, task }: Asked) => {
  let answer: Answer;
  try {
    answer = { result: (TASKS[name] as (task: unknown) => unknown)(task) };
  } catch (error) {
    answer = { error };
  }
  process.send!(answer, () => {}); // Nobody is told where nobody is left.
});
// It ends with the program, however that ends, once its task is done, and not before: a stop is sent to all processes
// of a terminal or a unit, while the program still finishes what it began.
process.on('disconnect', () => process.exit());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
