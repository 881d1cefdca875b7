/** The command `dragoman task`: lists editing tasks and returns them to the queue. */
import { Option } from 'commander';
import { ApiError } from '../base/errors.ts';
import {
  createEditing,
  type EditingContext,
  freeTask,
  listTasks,
  locate,
  TASK_STATUSES,
  type TaskStatus,
} from '../editing/editing.ts';
import type { Store } from '../roles/program.ts';
import { createScanner } from '../scanning/scanner.ts';
import { loadSettings } from '../settings/settings.ts';
import { type Command, withStore } from './options.ts';
import { CommandError, print, printJson, printTable } from './output.ts';

interface Shared {
  data?: string;
  json?: boolean;
}

const MOST = 200;

export function addTaskCommands(program: Command): void {
  const task = program.command('task').description('list and release editing tasks');
  task
    .command('list')
    .description(`list open tasks, those that need an operator first; at most ${MOST}`)
    .addOption(new Option('--status <status>', 'only tasks with this status').choices([...TASK_STATUSES]))
    .option('--account <name>', 'only tasks of this account')
    .onStore()
    .action((options: Shared & { status?: TaskStatus; account?: string }) =>
      withStore(options, async (store) => {
        const { tasks, counts } = await listTasks(contextOf(store), {
          status: options.status,
          account: options.account,
          limit: MOST,
          offset: 0,
        });
        if (options.json) return printJson({ tasks, counts });
        printTable(
          ['task', 'kind', 'pair', 'words', 'status', 'account/job', 'due', 'editor', 'reports'],
          tasks.map((one) => [
            one.task,
            one.kind,
            `${one.source_language}>${one.target_language}`,
            String(one.words),
            one.status,
            `${one.account}/${one.uid}`,
            one.deadline.toISOString(),
            one.editor?.name ?? '-',
            one.reports.map(({ reason }) => reason).join(', ') || '-',
          ]),
          'There are no such tasks.',
        );
      }),
    );
  task
    .command('release')
    .description('return a task to the queue; its edits are kept')
    .argument('<task>', 'the id of the task')
    .onStore()
    .action((id: string, options: Shared) =>
      withStore(options, async (store) => {
        const context = contextOf(store);
        try {
          const status = await freeTask(context, 'command', await locate(context, id));
          if (options.json) printJson({ task: id, status });
          else print(`${id} is ${status}.`);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          throw new CommandError(error.code === 'not_found' ? `There is no task ${id}.` : error.message);
        }
      }),
    );
}

/**
 * Returns a context for releasing tasks. Its observer and its function that wakes workers do nothing, because releasing
 * a task neither edits nor assembles a document.
 */
function contextOf({ database }: Store): EditingContext {
  const observer = {
    opened() {},
    claimed() {},
    ended() {},
    expired() {},
    delivered() {},
    filled() {},
    notFilled() {},
  };
  const settings = loadSettings(process.env);
  return createEditing({
    database,
    scanner: createScanner(),
    settings,
    observer,
    wake() {},
    wakePropagation() {},
  }).context;
}
