/** Exchanges changes with the hubs of other processes through one PostgreSQL notification channel. */
import type { Log } from '../base/log.ts';
import type { Database } from '../database/database.ts';
import type { DraftProgress } from '../jobs/worker/worker.ts';

const CHANNEL = 'dragoman_live';
/** Milliseconds for which an announcement of subscribers is valid. */
const ANNOUNCEMENT_HOLDS_MILLISECONDS = 30_000;
/** PostgreSQL limits the payload of a notification to less than 8,000 bytes. */
const PAYLOAD_BYTES = 7_500;

/** A message between hubs: `watch` announces that a process has subscribers. */
type HubMessage =
  | { from: string; watch: true }
  | { from: string; keys: string[]; progress: [account: string, job: string, drafted: number, of: number][] };

export interface Peers {
  /** Returns true if another process announced subscribers recently. */
  haveSubscribers(): boolean;
  /** Announces to other processes that this process has subscribers. */
  announce(): Promise<void>;
  send(keys: readonly string[], progress: readonly DraftProgress[]): void;
  /** Ignores further messages; resolves when everything passed to `send` has been sent. */
  close(): Promise<unknown>;
}

/** Connects to the hubs of other processes. @param receive called with the changes of another process */
export function createPeers(
  database: Database,
  log: Log,
  receive: (keys: readonly string[], progress: readonly DraftProgress[]) => void,
): Peers {
  const self = crypto.randomUUID();
  let announcedUntil = 0;
  let sending: Promise<unknown> = Promise.resolve();
  let closed = false;

  function onMessage(payload: string): void {
    const message = JSON.parse(payload) as HubMessage;
    if (message.from === self || closed) return;
    if ('watch' in message) {
      announcedUntil = performance.now() + ANNOUNCEMENT_HOLDS_MILLISECONDS;
      return;
    }
    const { keys, progress } = message;
    receive(
      keys,
      progress.map(([account, job, drafted, segments]) => ({ account, job, drafted, segments })),
    );
  }

  // If this process cannot listen, its pages show changes of other processes only after their next periodic
  // read.
  void database.listen(CHANNEL, onMessage).catch(() => {});
  return {
    haveSubscribers: () => announcedUntil > performance.now(),
    announce: () =>
      database
        .notify(CHANNEL, JSON.stringify({ from: self, watch: true } satisfies HubMessage))
        .catch((error: unknown) =>
          log.debug({ error }, 'could not announce live streams to other processes'),
        ),
    send(keys, progress) {
      const payloads = payloadsOf(self, keys, progress);
      sending = sending.then(() =>
        Promise.all(payloads.map((payload) => database.notify(CHANNEL, payload))).catch((error: unknown) =>
          log.debug({ error }, 'could not send live updates to other processes'),
        ),
      );
    },
    close() {
      closed = true;
      return sending;
    },
  };
}

/** Splits the changes until each part fits into one notification. */
function payloadsOf(from: string, keys: readonly string[], progress: readonly DraftProgress[]): string[] {
  if (keys.length + progress.length === 0) return [];
  const numbers = progress.map(
    ({ account, job, drafted, segments }) => [account, job, drafted, segments] as const,
  );
  const whole = JSON.stringify({ from, keys, progress: numbers });
  if (whole.length <= PAYLOAD_BYTES) return [whole];
  const half = (list: readonly unknown[]) => Math.ceil(list.length / 2);
  return [
    ...payloadsOf(from, keys.slice(0, half(keys)), progress.slice(0, half(progress))),
    ...payloadsOf(from, keys.slice(half(keys)), progress.slice(half(progress))),
  ];
}
