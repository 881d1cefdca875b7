/** The command `dragoman delivery`: shows and replays deliveries. */
import { InvalidArgumentError, Option } from 'commander';
import { accountNamed } from '../access/accounts.ts';
import type { Environment } from '../base/account.ts';
import { isId } from '../base/ids.ts';
import { counted } from '../base/text.ts';
import { followDeliveries } from '../chats/chats.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  listOwnedDeliveries,
  readAttempts,
  replayDead,
  replayDelivery,
} from '../deliveries/log.ts';
import type { Store } from '../roles/program.ts';
import { type Command, date, environment, withStore } from './options.ts';
import { CommandError, print, printJson, printTable } from './output.ts';

interface Shared {
  data?: string;
  json?: boolean;
}

export function addDeliveryCommands(program: Command): void {
  const delivery = program.command('delivery').description('show and replay callbacks');
  delivery
    .command('list')
    .description('list deliveries, newest first')
    .addOption(
      new Option('--status <status>', 'only deliveries with this status').choices([...DELIVERY_STATUSES]),
    )
    .option('--account <name>', 'only deliveries of this account')
    .option('--limit <count>', 'the maximum number', count, 50)
    .onStore()
    .action((options: Shared & { status?: DeliveryStatus; account?: string; limit: number }) =>
      withStore(options, async ({ database }) => {
        if (options.account !== undefined) await accountNamed(database, options.account);
        const filter = { username: options.account, status: options.status };
        const found = await listOwnedDeliveries(database, filter, options.limit);
        if (options.json) return printJson({ deliveries: found.map((one) => one.delivery) });
        printTable(
          ['delivery', 'created', 'account', 'event', 'status', 'attempts'],
          found.map(({ delivery: one }) => {
            const status = one.failure === undefined ? one.status : `${one.status} (${one.failure})`;
            return [one.id, one.created_at, one.account, one.event, status, String(one.attempts)];
          }),
          'There are no such deliveries.',
        );
      }),
    );
  delivery
    .command('show')
    .description('show a delivery with its attempts')
    .argument('<id>', 'the id of the delivery, which is its webhook-id')
    .onStore()
    .action((id: string, options: Shared) =>
      withStore(options, async (store) => {
        const { owner, delivery: one } = await find(store, id);
        const attempts = await readAttempts(store.database, owner, id, 'operator');
        if (options.json) return printJson({ ...one, attempts });
        for (const [name, value] of Object.entries(one)) print(`${name.padEnd(16)} ${value}`);
        for (const { attempt, started_at, ...rest } of attempts) {
          const { outcome = 'no result recorded', status_code, milliseconds, detail, answer } = rest;
          const took = milliseconds === undefined ? '' : `, ${milliseconds} ms`;
          print(`attempt ${attempt}, ${started_at}: ${status_code ?? detail ?? outcome}${took}`);
          if (answer) print(`    ${JSON.stringify(answer.slice(0, 200))}`);
        }
      }),
    );
  delivery
    .command('replay')
    .description('replay a delivery, or all of an account that died since a date')
    .argument('[id]', 'the id of a delivery that has ended')
    .option('--failed-since <date>', 'all deliveries that died since', date)
    .option('--account <name>', 'whose')
    .addOption(environment())
    .onStore()
    .action(
      (
        id: string | undefined,
        options: Shared & { failedSince?: Date; account?: string; environment?: Environment },
      ) =>
        withStore(options, async (store) => {
          const replayed = id === undefined ? await replayAll(store, options) : await replayOne(store, id);
          if (options.json) printJson({ replayed });
          else print(`${counted(replayed, 'delivery is', 'deliveries are')} pending again.`);
        }),
    );
}

async function find({ database }: Store, id: string) {
  const [found] = isId(id) ? await listOwnedDeliveries(database, { id }, 1) : [];
  if (found === undefined) throw new CommandError(`There is no delivery ${id}.`);
  return found;
}

async function replayOne(store: Store, id: string): Promise<number> {
  const { owner } = await find(store, id);
  if (!(await replayDelivery(store.database, 'command', owner, id, followDeliveries))) {
    throw new CommandError('This delivery is already pending.');
  }
  return 1;
}

async function replayAll(
  { database }: Store,
  options: { failedSince?: Date; account?: string; environment?: Environment },
): Promise<number> {
  const { failedSince, account, environment: only } = options;
  if (failedSince === undefined || account === undefined) {
    throw new CommandError('Give the id of a delivery, or --failed-since DATE with --account NAME.');
  }
  const { ref } = await accountNamed(database, account);
  const named = { ref, username: account };
  let replayed = 0;
  for (const one of only === undefined ? (['production', 'sandbox'] as const) : [only]) {
    replayed += await replayDead(database, 'command', named, one, failedSince, followDeliveries);
  }
  return replayed;
}

function count(written: string): number {
  if (!/^[1-9]\d{0,4}$/.test(written)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(written);
}
