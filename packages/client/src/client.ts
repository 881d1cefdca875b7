/**
 * A client for Dragoman. It has no dependencies, and runs where `fetch` and Web Crypto are: Node 20 and later,
 * browsers, edge runtimes. Its types come from the service's own description (`generated.ts`).
 *
 * It speaks the `spec` dialect, which is every key's that was not asked to be `legacy`.
 */
import { DragomanError } from './errors.ts';
import type {
  Account,
  ChatMessage,
  ChatMessageRequest,
  ChatRequest,
  CreatedChat,
  Delivery,
  DeliveryDetail,
  EventPage,
  Job,
  JobCreation,
  JobListItem,
  JobRequest,
  JobStatus,
  LanguagePair,
  MachineJobCreation,
  MachineJobRequest,
  MessageInChat,
  Operations,
  TestEventRequest,
  Tone,
  Topic,
  UpgradeRequest,
  WordCountRequest,
} from './generated.ts';
import { type CallOptions, createTransport, type Transport, type TransportOptions } from './transport.ts';

export { DragomanError, type FieldError } from './errors.ts';
export type * from './generated.ts';
export type { CallOptions } from './transport.ts';
export { verifyWebhook, type WebhookInput, type WebhookVerdict } from './webhook.ts';

export type DragomanOptions = TransportOptions;

/** Jobs of one tier. */
export interface Jobs<Request, Creation, Filter> {
  /**
   * Creates a job. A lost answer is asked for again and makes no second job.
   * @throws DragomanError 400 with its `fields`, 402 when the account cannot pay
   */
  create(job: Request, options?: CallOptions): Promise<Creation>;
  /** One job; `translated_text` is there once it is completed. @throws DragomanError 404 */
  get(uid: string, options?: CallOptions): Promise<Job>;
  /** All jobs that match, oldest first; pages are read as they are needed (`limit` is the size of one). */
  list(filter?: Filter, options?: CallOptions): AsyncGenerator<JobListItem, void, undefined>;
  /**
   * Asks, ever more slowly, until the job has an end: `completed`, or `failed` with its `failure`, or `canceled`.
   * A job that people edit takes hours; a `callback_url` is the better way to hear of those.
   */
  waitForJob(uid: string, options?: CallOptions): Promise<Job>;
  /**
   * Takes an unfinished job back, and what it would have cost; nothing is posted of it. Of a job that was taken
   * back before, it stays so.
   * @throws DragomanError 400 for a job that has ended otherwise, 404
   */
  cancel(uid: string, options?: CallOptions): Promise<void>;
}

/** Messages of conversations, translated at once. */
export interface Chats {
  /**
   * Creates a message, and its chat where that is new. The same message again is answered as it is by then, with
   * its `translated_text` once it is translated.
   * @throws DragomanError 400 with its `fields`; 402 where the account has no chats, or not in this pair
   */
  postMessage(message: ChatMessageRequest, options?: CallOptions): Promise<MessageInChat>;
  /** @throws DragomanError 404; 403 where the key may read no chats */
  getMessage(chatId: string, messageId: string, options?: CallOptions): Promise<MessageInChat>;
  /** Creates a chat without a message, or finds the one of this `external_id`. */
  createChat(chat?: ChatRequest, options?: CallOptions): Promise<CreatedChat>;
  /** All messages of a chat, in their order; from `index` on (the first is 1), in pages of `limit`. */
  listMessages(
    chatId: string,
    from?: Operations['listChatMessages']['query'],
    options?: CallOptions,
  ): AsyncGenerator<ChatMessage, void, undefined>;
}

/** What is posted to the account's callback addresses, and how that went. */
export interface Deliveries {
  /** All deliveries that match, the newest first; pages are read as they are needed. */
  list(
    filter?: Operations['listDeliveries']['query'],
    options?: CallOptions,
  ): AsyncGenerator<Delivery, void, undefined>;
  /** One delivery with its attempts; its id is the `webhook-id` of what arrived. @throws DragomanError 404 */
  get(id: string, options?: CallOptions): Promise<DeliveryDetail>;
  /** Sends a delivery again that has ended. */
  replay(id: string, options?: CallOptions): Promise<Delivery>;
  /** Sends all deliveries again that died since a day or a moment. @returns how many */
  replaySince(since: string, options?: CallOptions): Promise<number>;
  /** Posts a signed event that means nothing, to try a receiver. */
  sendTest(request: TestEventRequest, options?: CallOptions): Promise<Delivery>;
}

export interface Dragoman {
  /** Jobs that a human edits after the machine. */
  jobs: Jobs<JobRequest, JobCreation, Operations['listJobs']['query']> & {
    /**
     * Creates up to 1000 jobs: all of them or none, in order. A lost answer is asked for again.
     * @throws DragomanError 400 with its `fields`, such as `objects[3].text`
     */
    createMany(jobs: JobRequest[], options?: CallOptions): Promise<JobCreation[]>;
  };
  /** Jobs that the machine does alone. */
  machineJobs: Jobs<MachineJobRequest, MachineJobCreation, Operations['listMachineJobs']['query']> & {
    /**
     * Lets a human edit a completed job: from then on it is one of `jobs`, under the same uid, at their price.
     * @throws DragomanError 400 for a job that is not completed, 402, 404
     */
    upgrade(
      uid: string,
      properties?: UpgradeRequest['properties'],
      options?: CallOptions,
    ): Promise<JobCreation>;
  };
  chats: Chats;
  deliveries: Deliveries;
  /** What happened after a cursor, in an order that never changes. Keep `next`, and go on from it. */
  events(from?: Operations['listEvents']['query'], options?: CallOptions): Promise<EventPage>;
  /** The pairs that jobs can have. */
  languagePairs(options?: CallOptions): Promise<LanguagePair['lang_pair'][]>;
  /** What `tone` of a job may be. */
  tones(options?: CallOptions): Promise<Tone['tone'][]>;
  /** What `topics` of a job may be. */
  topics(options?: CallOptions): Promise<Topic['topic'][]>;
  /** The account that is calling, with what it can spend in this environment, in cents. */
  account(options?: CallOptions): Promise<Account>;
  /** How many words a job of this text would be paid by. */
  wordCount(request: WordCountRequest, options?: CallOptions): Promise<number>;
}

const UNFINISHED: readonly JobStatus[] = ['new', 'machine_translate_in_progress', 'translating'];
const FIRST_POLL_MILLISECONDS = 500;
const POLL_GROWTH = 1.5;
const LONGEST_POLL_MILLISECONDS = 30_000;

/** A client of one account in one environment. */
export function createDragoman(options: DragomanOptions): Dragoman {
  const transport = createTransport(options);
  return {
    jobs: {
      ...jobsOf<JobRequest, JobCreation, Operations['listJobs']['query']>(transport, HUMAN),
      async createMany(jobs, options) {
        const idempotencyKey = crypto.randomUUID();
        const given = { ...options, body: { objects: jobs }, idempotencyKey, repeatable: true };
        return (await transport.call('createJobs', given)).objects;
      },
    },
    machineJobs: {
      ...jobsOf<MachineJobRequest, MachineJobCreation, Operations['listMachineJobs']['query']>(
        transport,
        MACHINE,
      ),
      upgrade(uid, properties, options) {
        const body = { status: 'upgrade', properties } as const;
        return transport.call('upgradeMachineJob', { ...options, path: { uid }, body, repeatable: true });
      },
    },
    chats: chatsOf(transport),
    deliveries: deliveriesOf(transport),
    events: (from, options) => transport.call('listEvents', { ...options, query: from, repeatable: true }),
    async languagePairs(options) {
      const { objects } = await transport.call('listLanguagePairs', { ...options, repeatable: true });
      return objects.map(({ lang_pair }) => lang_pair);
    },
    async tones(options) {
      const { objects } = await transport.call('listTones', { ...options, repeatable: true });
      return objects.map(({ tone }) => tone);
    },
    async topics(options) {
      const { objects } = await transport.call('listTopics', { ...options, repeatable: true });
      return objects.map(({ topic }) => topic);
    },
    async account(options) {
      const { objects } = await transport.call('getAccount', { ...options, repeatable: true });
      return objects[0]!.account;
    },
    async wordCount(request, options) {
      const given = { ...options, body: request, repeatable: true };
      return (await transport.call('countWords', given)).word_count;
    },
  };
}

/** The operations of one tier; both have the same ones. */
interface TierOperations {
  create: 'createJob' | 'createMachineJob';
  get: 'getJob' | 'getMachineJob';
  list: 'listJobs' | 'listMachineJobs';
  cancel: 'cancelJob' | 'cancelMachineJob';
}

const HUMAN: TierOperations = {
  create: 'createJob',
  get: 'getJob',
  list: 'listJobs',
  cancel: 'cancelJob',
};
const MACHINE: TierOperations = {
  create: 'createMachineJob',
  get: 'getMachineJob',
  list: 'listMachineJobs',
  cancel: 'cancelMachineJob',
};

type ListQuery = Operations['listJobs' | 'listMachineJobs']['query'];

function jobsOf<Request extends MachineJobRequest, Creation, Filter extends ListQuery>(
  transport: Transport,
  operations: TierOperations,
): Jobs<Request, Creation, Filter> {
  async function get(uid: string, options: CallOptions = {}): Promise<Job> {
    const job = await transport.call(operations.get, { ...options, path: { uid }, repeatable: true });
    return job as Job;
  }
  return {
    get,
    async create(job, options = {}) {
      // An empty uid is none to the service: it would take every arrival for another job.
      const idempotencyKey = job.uid ? undefined : crypto.randomUUID();
      const given = { ...options, body: job, idempotencyKey, repeatable: true };
      return (await transport.call(operations.create, given)) as Creation;
    },
    async *list(filter, options = {}) {
      // By the last uid seen, not by a count: pages stay cheap, and jobs that come meanwhile shift nothing.
      const first = filter?.offset === undefined ? { after: '', ...filter } : filter;
      for (let query: ListQuery = first; ; ) {
        const page = await transport.call(operations.list, { ...options, query, repeatable: true });
        yield* page.objects as JobListItem[];
        if (page.meta.next === null) return;
        // Only what the link asks, not where: a proxy may have put the service under another path.
        query = Object.fromEntries(new URLSearchParams(page.meta.next.split('?')[1]));
      }
    },
    async cancel(uid, options) {
      try {
        await transport.call(operations.cancel, { ...options, path: { uid }, repeatable: true });
      } catch (error) {
        // The service refuses to cancel twice; the first time may have been ours, with its answer lost.
        const refused = error instanceof DragomanError && error.status === 400;
        if (!refused || (await get(uid, options)).status !== 'canceled') throw error;
      }
    },
    async waitForJob(uid, options = {}) {
      for (
        let wait = FIRST_POLL_MILLISECONDS;
        ;
        wait = Math.min(wait * POLL_GROWTH, LONGEST_POLL_MILLISECONDS)
      ) {
        const job = await get(uid, options);
        if (!UNFINISHED.includes(job.status)) return job;
        await transport.pause(wait, options.signal);
      }
    },
  };
}

function chatsOf(transport: Transport): Chats {
  return {
    postMessage: (message, options) =>
      transport.call('createChatMessage', { ...options, body: message, repeatable: true }),
    getMessage(chatId, messageId, options) {
      const path = { chat_id: chatId, message_id: messageId };
      return transport.call('getChatMessage', { ...options, path, repeatable: true });
    },
    createChat(chat = {}, options) {
      // Without a name of the caller's own, every arrival would make another chat.
      const repeatable = Boolean(chat.external_id);
      return transport.call('createChat', { ...options, body: chat, repeatable });
    },
    async *listMessages(chatId, { index = 1, limit } = {}, options) {
      const path = { chat_id: chatId };
      for (let next = index; ; ) {
        const given = { ...options, path, query: { index: next, limit }, repeatable: true };
        const page = await transport.call('listChatMessages', given);
        yield* page.messages;
        next += page.messages.length;
        if (page.messages.length === 0 || next > page.length) return;
      }
    },
  };
}

function deliveriesOf(transport: Transport): Deliveries {
  return {
    async *list(filter, options) {
      for (let query = filter; ; ) {
        const page = await transport.call('listDeliveries', { ...options, query, repeatable: true });
        yield* page.objects;
        if (page.next === null) return;
        query = { ...filter, after: page.next };
      }
    },
    get: (id, options) =>
      transport.call('getDelivery', { ...options, path: { delivery_id: id }, repeatable: true }),
    // What sends something is not repeated: it might be sent twice.
    replay: (id, options) =>
      transport.call('replayDelivery', { ...options, path: { delivery_id: id }, repeatable: false }),
    async replaySince(since, options) {
      const given = { ...options, body: { since }, repeatable: false };
      return (await transport.call('replayDeliveries', given)).replayed;
    },
    sendTest: (request, options) =>
      transport.call('sendTestEvent', { ...options, body: request, repeatable: false }),
  };
}
