/**
 * Notifications that wake the workers of other processes. Workers also poll, so a lost notification only
 * delays work.
 */
import type { Log } from '../base/log.ts';
import { JOBS_CHANNEL } from '../jobs/list/console.ts';

export const CHANNELS = {
  jobs: JOBS_CHANNEL,
  messages: 'dragoman_messages',
  editing: 'dragoman_editing',
  votes: 'dragoman_votes',
} as const;

export type Hints = ReturnType<typeof createHints>;

/**
 * Creates a sender that has at most one notification per channel in flight. So hundreds of commits in a short time
 * cause two notifications.
 */
export function createHints(database: { notify(channel: string): Promise<void> }, log: Log) {
  const inFlight = new Set<string>();
  const again = new Set<string>();
  return {
    send(channel: string): void {
      if (inFlight.has(channel)) {
        again.add(channel);
        return;
      }
      inFlight.add(channel);
      database
        .notify(channel)
        .catch((error: unknown) => log.debug({ error }, 'notification was lost'))
        .finally(() => {
          inFlight.delete(channel);
          if (again.delete(channel)) this.send(channel);
        });
    },
  };
}
