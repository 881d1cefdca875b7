/** The connection on which a process receives notifications from other processes (LISTEN). */
import type pg from 'pg';
import type { Connection } from './connections.ts';
import { createConnection } from './connections.ts';
import { limitedTo } from './forms.ts';

/** How often the listener checks that its server still answers, and how long it waits for the answer. */
const HEARTBEAT_MILLISECONDS = 10_000;

export interface Listener {
  add(channel: string, onPayload: (payload: string) => void): Promise<void>;
  close(): Promise<void>;
}

/**
 * Uses a separate connection for LISTEN. When it is lost, it is reopened and all channels are subscribed
 * again.
 */
export function createListener(connection: Connection, lost: (error: Error) => void): Listener {
  const channels = new Map<string, (payload: string) => void>();
  let current: Promise<pg.Client> | undefined;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;
  let adding: Promise<void> = Promise.resolve();

  async function connect(): Promise<pg.Client> {
    const named = { ...connection, application_name: 'dragoman listener' };
    const client = createConnection(named, (error) => {
      if (!closed) lost(error);
    });
    client.on('notification', ({ channel, payload }) => channels.get(channel)?.(payload ?? ''));
    await client.connect();
    client.on('end', reconnectSoon);
    keepChecking(client);
    try {
      for (const channel of channels.keys()) await listenOn(client, channel);
    } catch (error) {
      client.off('end', reconnectSoon);
      void client.end();
      throw error;
    }
    return client;
  }

  function reconnectSoon(): void {
    current = undefined;
    clearTimeout(retry);
    if (closed) return;
    retry = setTimeout(() => {
      current ??= connect();
      current.catch(reconnectSoon);
    }, 500);
    retry.unref();
  }

  return {
    async add(channel, onPayload) {
      channels.set(channel, onPayload);
      current ??= connect();
      // LISTEN statements run one after another, because a connection runs one query at a time.
      const added = adding.then(async () => listenOn(await current!, channel));
      adding = added.catch(() => {});
      await added;
    },
    async close() {
      closed = true;
      clearTimeout(retry);
      const client = await current?.catch(() => undefined);
      // The end of the connection is not awaited, because a frozen server would never close its side.
      void client?.end();
    },
  };
}

/**
 * Ends a connection when its server does not answer a query. TCP keep-alive is not enough, because the kernel of a
 * frozen server still confirms its packets.
 */
function keepChecking(client: pg.Client): void {
  const timer = setInterval(() => {
    client.query({ text: 'select 1', ...limitedTo(HEARTBEAT_MILLISECONDS) }).catch(() => client.end());
  }, HEARTBEAT_MILLISECONDS);
  timer.unref();
  client.on('end', () => clearInterval(timer));
}

async function listenOn(client: pg.Client, channel: string): Promise<void> {
  await client.query(`listen ${client.escapeIdentifier(channel)}`);
}
