/** `dragoman delivery`: what was posted to customers, and posting it again. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Environment } from '../account.ts';
import { accountNamed } from '../accounts/accounts.ts';
import { followDeliveries } from '../chats/chats.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  listOwnedDeliveries,
  readAttempts,
  replayDead,
  replayDelivery,
} from '../deliveries/log.ts';
import { recordAudit } from '../operations/audit.ts';
import type { Store } from '../program.ts';
import { data, date, environment, json, withStore } from './options.ts';
import { CommandError, print, printJson } from './output.ts';

interface Shared {
  data?: string;
  json?: boolean;
}

export function addDeliveryCommands(program: Command): void {
  const delivery = program.command('delivery').description('what is posted to customers');
  delivery
    .command('list')
    .description('list deliveries, newest first')
    .addOption(new Option('--status <status>', 'only these').choices([...DELIVERY_STATUSES]))
    .option('--account <name>', 'only this account’s')
    .option('--limit <count>', 'at most so many', count, 50)
    .addOption(data())
    .addOption(json())
    .action((options: Shared & { status?: DeliveryStatus; account?: string; limit: number }) =>
      withStore(options, async ({ database }) => {
        if (options.account !== undefined) await accountNamed(database, options.account);
        const filter = { username: options.account, status: options.status };
        const found = await listOwnedDeliveries(database, filter, options.limit);
        if (options.json) return printJson({ deliveries: found.map((one) => one.delivery) });
        for (const { delivery: one } of found) {
          const state = one.failure === undefined ? one.status : `${one.status} (${one.failure})`;
          print(
            `${one.id}  ${one.created_at}  ${one.account}  ${one.event}  ${state}  ${one.attempts} attempts`,
          );
        }
      }),
    );
  delivery
    .command('show')
    .description('show a delivery with its attempts')
    .argument('<id>', 'its id, the webhook-id that was sent')
    .addOption(data())
    .addOption(json())
    .action((id: string, options: Shared) =>
      withStore(options, async (store) => {
        const { owner, delivery: one } = await find(store, id);
        const attempts = await readAttempts(store.database, owner, id);
        if (options.json) return printJson({ ...one, attempts });
        for (const [name, value] of Object.entries(one)) print(`${name.padEnd(16)} ${value}`);
        for (const { attempt, started_at, ...rest } of attempts) {
          const { outcome = 'no end on record', status_code, milliseconds, detail, answer } = rest;
          const took = milliseconds === undefined ? '' : `, ${milliseconds} ms`;
          print(`attempt ${attempt}, ${started_at}: ${status_code ?? detail ?? outcome}${took}`);
          if (answer) print(`    ${JSON.stringify(answer.slice(0, 200))}`);
        }
      }),
    );
  delivery
    .command('replay')
    .description('send a delivery again, or all of an account that died since a date')
    .argument('[id]', 'the delivery; it must have ended')
    .option('--failed-since <date>', 'all that died since', date)
    .option('--account <name>', 'whose')
    .addOption(environment())
    .addOption(data())
    .addOption(json())
    .action(
      (
        id: string | undefined,
        options: Shared & { failedSince?: Date; account?: string; environment?: Environment },
      ) =>
        withStore(options, async (store) => {
          const replayed = id === undefined ? await replayAll(store, options) : await replayOne(store, id);
          if (options.json) printJson({ replayed });
          else print(`${replayed} ${replayed === 1 ? 'delivery is' : 'deliveries are'} pending again.`);
        }),
    );
}

async function find({ database }: Store, id: string) {
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
  const [found] = isId ? await listOwnedDeliveries(database, { id }, 1) : [];
  if (found === undefined) throw new CommandError(`There is no delivery ${id}.`);
  return found;
}

async function replayOne(store: Store, id: string): Promise<number> {
  const { owner } = await find(store, id);
  if (!(await replayDelivery(store.database, owner, id, followDeliveries))) {
    throw new CommandError('It is pending already.');
  }
  await recordAudit(store.database, 'command', {
    ...{ action: 'delivery.replayed', account: owner, subject: id, detail: {} },
  });
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
  let replayed = 0;
  for (const one of only === undefined ? (['production', 'sandbox'] as const) : [only]) {
    const count = await replayDead(database, ref, one, failedSince, followDeliveries);
    await recordAudit(database, 'command', {
      ...{ action: 'deliveries.replayed', account: ref, subject: account },
      detail: { environment: one, since: failedSince.toISOString(), replayed: count },
    });
    replayed += count;
  }
  return replayed;
}

function count(written: string): number {
  if (!/^[1-9]\d{0,4}$/.test(written)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(written);
}
