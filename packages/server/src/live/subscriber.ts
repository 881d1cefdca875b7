/** An open page that gets live updates, and what is counted about it. */
import type { PersonRole } from '../base/account.ts';
import type { DraftProgress } from '../jobs/worker/worker.ts';

export interface LiveTopic {
  /** The topic's name, as the page requested it. */
  name: string;
  /** A change concerns this topic if the change has one of these keys. */
  keys: readonly string[];
}

/** Which limit of streams is reached: of one user, of the users of one account, or of this process. */
export type StreamLimit = 'person' | 'account' | 'process';

/** The event stream of one open page. */
export interface Subscriber {
  readonly sessionId: string;
  readonly userId: string;
  /** The account of a customer; undefined for other users. */
  readonly accountId: string | undefined;
  readonly role: PersonRole;
  readonly topics: readonly LiveTopic[];
  /** Sends a `changed` event. @returns false while the stream cannot accept more */
  changed(topic: string): boolean;
  /** Sends a `progress` event. @returns false while the stream cannot accept more */
  progressed(topic: string, progress: DraftProgress): boolean;
  /** Ends the stream. @param reason the session has ended, or the server stops */
  end(reason: 'session' | 'stop'): void;
}

export interface HubObserver {
  streams(open: number): void;
  sent(event: 'changed' | 'progress', count: number): void;
  /** Counts events that were merged with a pending event of the same topic. */
  coalesced(count: number): void;
  refused(why: StreamLimit): void;
}
