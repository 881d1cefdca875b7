/** `dragoman task`: what editors have before them, and taking it back from them. */
import { type Command, Option } from 'commander';
import {
  createEditing,
  type EditingRoom,
  freeTask,
  listTasks,
  locate,
  TASK_STATUSES,
  type TaskStatus,
} from '../editing/editing.ts';
import { ApiError } from '../errors.ts';
import type { Store } from '../program.ts';
import { createScanner } from '../scanning/scanner.ts';
import { loadSettings } from '../settings.ts';
import { data, json, withStore } from './options.ts';
import { CommandError, print, printJson } from './output.ts';

interface Shared {
  data?: string;
  json?: boolean;
}

const MOST = 200;

export function addTaskCommands(program: Command): void {
  const task = program.command('task').description('what editors have before them');
  task
    .command('list')
    .description(`list tasks that are not over, those first that an operator has to look at; at most ${MOST}`)
    .addOption(new Option('--status <status>', 'only these').choices([...TASK_STATUSES]))
    .option('--account <name>', 'only this account’s')
    .addOption(data())
    .addOption(json())
    .action((options: Shared & { status?: TaskStatus; account?: string }) =>
      withStore(options, async (store) => {
        const { tasks, counts } = await listTasks(roomOf(store), {
          status: options.status,
          kind: undefined,
          sourceLanguage: undefined,
          targetLanguage: undefined,
          account: options.account,
          limit: MOST,
          offset: 0,
        });
        if (options.json) return printJson({ tasks, counts });
        for (const one of tasks) {
          const who = one.editor === null ? '' : `  ${one.editor.name}`;
          const why = one.reports.map(({ reason }) => reason).join(', ');
          const pair = `${one.source_language}>${one.target_language}`;
          print(
            `${one.task}  ${one.kind}  ${pair}  ${one.words} words  ${one.status}  ${one.account}/${one.uid}  ` +
              `due ${one.deadline}${who}${why === '' ? '' : `  (${why})`}`,
          );
        }
      }),
    );
  task
    .command('release')
    .description('give a task back to the queue, from whoever has it; its drafts stay')
    .argument('<task>', 'its id')
    .addOption(data())
    .addOption(json())
    .action((id: string, options: Shared) =>
      withStore(options, async (store) => {
        const room = roomOf(store);
        try {
          const status = await freeTask(room, 'command', await locate(room, id));
          if (options.json) printJson({ task: id, status });
          else print(`${id} is ${status}.`);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          throw new CommandError(error.code === 'not_found' ? `There is no task ${id}.` : error.message);
        }
      }),
    );
}

/** Nothing is edited here, so nobody is told and nothing is put together. */
function roomOf({ database }: Store): EditingRoom {
  const observer = { opened() {}, claimed() {}, ended() {}, expired() {}, delivered() {} };
  const settings = loadSettings(process.env);
  return createEditing({ database, scanner: createScanner(), settings, observer, wake() {} }).room;
}
