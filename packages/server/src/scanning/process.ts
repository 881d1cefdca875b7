/** The program of a scanner process, which runs the tasks of `tasks.ts`. */
import { runTasks } from './run-tasks.ts';
import { TASKS } from './tasks.ts';

runTasks(TASKS);
