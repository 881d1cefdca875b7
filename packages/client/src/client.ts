/**
 * A client for Dragoman without dependencies. It runs wherever `fetch` and Web Crypto are available: Node.js 20 and
 * later, browsers, edge runtimes. Its types are generated from the service's OpenAPI description (`generated.ts`).
 *
 * It needs an API key with the API format `spec`, which is the default.
 */
import { DragomanError } from './errors.ts';
import type {
  Account,
  ChatMessage,
  ChatMessageRequest,
  ChatRequest,
  CreatedChat,
  CreatedWebhookEndpoint,
  Delivery,
  DeliveryDetail,
  EndpointSecret,
  EventPage,
  Job,
  JobCreation,
  JobListItem,
  JobQuery,
  JobRequest,
  JobStatus,
  LanguagePair,
  MachineJobCreation,
  MachineJobRequest,
  MemoryEntryList,
  MessageInChat,
  Operations,
  Quote,
  SkippedTime,
  TermList,
  TestEventRequest,
  Tone,
  Topic,
  UpgradeRequest,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointRequest,
  WordCountRequest,
} from './generated.ts';
import { type CallOptions, createTransport, type Transport, type TransportOptions } from './transport.ts';

export { DragomanError, type FieldError } from './errors.ts';
export type * from './generated.ts';
export type { CallOptions } from './transport.ts';
export { verifyWebhook, type WebhookInput, type WebhookVerdict } from './webhook.ts';

export type DragomanOptions = TransportOptions;

export interface CreateOptions extends CallOptions {
  /**
   * The idempotency key: 1 to 255 printable ASCII characters. For at least 24 hours, the same request with the same key
   * returns the same job. Default: a random key for each call, but none for a job with a `uid`.
   */
  idempotencyKey?: string | undefined;
  /** The price of a quote in cents. If the job would have another price, it is not created (`price_changed`). */
  quotedPrice?: number | undefined;
}

/** The operations on jobs of one tier. */
export interface Jobs<Request, Creation, Filter> {
  /**
   * Creates a job. A retry after a lost response does not create a second job.
   *
   * @throws DragomanError 400 with `fields`, 402 when the account has insufficient funds
   */
  create(job: Request, options?: CreateOptions): Promise<Creation>;
  /** Returns a job, with `translated_text` once it is completed. @throws DragomanError 404 */
  get(uid: string, options?: CallOptions): Promise<Job>;
  /** Yields all matching jobs, oldest first. Pages are fetched as needed; `limit` is the page size. */
  list(filter?: Filter, options?: CallOptions): AsyncGenerator<JobListItem, void, undefined>;
  /**
   * Polls until the job is `completed`, `failed` (see `failure`) or `canceled`. The polling interval grows up to 30
   * s. Jobs that editors work on take hours; use a `callback_url` for them.
   */
  waitForJob(uid: string, options?: CallOptions): Promise<Job>;
  /**
   * Cancels an unfinished job and releases its reserved price. No callback is sent. A job that is already canceled
   * causes no error.
   *
   * @throws DragomanError 400 for a completed or failed job, 404
   */
  cancel(uid: string, options?: CallOptions): Promise<void>;
}

/** The operations on chats, whose messages are translated immediately. */
export interface Chats {
  /**
   * Creates a message, and its chat if the chat is new. If the message exists, returns its current state, with
   * `translated_text` as soon as it is translated.
   *
   * @throws DragomanError 400 with `fields`; 402 if the account has no access to chats or to this language pair in
   * chats
   */
  postMessage(message: ChatMessageRequest, options?: CallOptions): Promise<MessageInChat>;
  /** Returns a message. @throws DragomanError 404; 403 if the key may not read chats */
  getMessage(chatId: string, messageId: string, options?: CallOptions): Promise<MessageInChat>;
  /** Creates a chat without messages, or returns the existing chat with this `external_id`. */
  createChat(chat?: ChatRequest, options?: CallOptions): Promise<CreatedChat>;
  /**
   * Yields all messages of a chat in order, beginning at `index` (the first message has 1). `limit` is the page size.
   */
  listMessages(
    chatId: string,
    from?: Operations['listChatMessages']['query'],
    options?: CallOptions,
  ): AsyncGenerator<ChatMessage, void, undefined>;
}

/** The operations on deliveries to the account's callback URLs. */
export interface Deliveries {
  /** Yields all matching deliveries, newest first. Pages are fetched as needed. */
  list(
    filter?: Operations['listDeliveries']['query'],
    options?: CallOptions,
  ): AsyncGenerator<Delivery, void, undefined>;
  /** Returns a delivery with its attempts. Its id is the callback's `webhook-id`. @throws DragomanError 404 */
  get(id: string, options?: CallOptions): Promise<DeliveryDetail>;
  /** Attempts a finished delivery again, whether it succeeded or is dead. */
  replay(id: string, options?: CallOptions): Promise<Delivery>;
  /**
   * Attempts all deliveries again that died since a date or time.
   *
   * @returns the number of deliveries that are attempted again
   */
  replaySince(since: string, options?: CallOptions): Promise<number>;
  /** Sends a signed test event. */
  sendTest(request: TestEventRequest, options?: CallOptions): Promise<Delivery>;
}

/** The operations on webhook endpoints: URLs that get all events of the key's environment. */
export interface WebhookEndpoints {
  /** Returns all endpoints, oldest first. */
  list(options?: CallOptions): Promise<WebhookEndpoint[]>;
  /**
   * Registers an endpoint. Save its `webhook_secret`: no other call returns it.
   *
   * @throws DragomanError 400 with `fields`, also when the URL is registered already
   */
  create(endpoint: WebhookEndpointRequest, options?: CallOptions): Promise<CreatedWebhookEndpoint>;
  /** Returns an endpoint without its secret. @throws DragomanError 404 */
  get(id: string, options?: CallOptions): Promise<WebhookEndpoint>;
  /** Changes an endpoint. Fields that are absent stay unchanged. @throws DragomanError 400 with `fields`, 404 */
  change(id: string, change: WebhookEndpointChange, options?: CallOptions): Promise<WebhookEndpoint>;
  /** Deletes an endpoint with its secrets. @throws DragomanError 404 */
  delete(id: string, options?: CallOptions): Promise<void>;
  /** Creates a new secret. The previous secrets also sign until the end of the overlap. @throws DragomanError 404 */
  rollSecret(
    id: string,
    overlap: Operations['rollWebhookEndpointSecret']['body']['overlap'],
    options?: CallOptions,
  ): Promise<EndpointSecret>;
}

/**
 * The questions of editors about segments of human jobs. Until a question is answered or withdrawn, its
 * segment cannot be confirmed.
 */
export interface Queries {
  /** Returns the open queries of all jobs, or all queries of one job, oldest first. */
  list(filter?: Operations['listQueries']['query'], options?: CallOptions): Promise<JobQuery[]>;
  /**
   * Answers a query. Sending the same answer again has no effect.
   *
   * @returns the queries of the job
   * @throws DragomanError 400 with `fields`; 404 when the query is not open any more
   */
  answer(query: string, answer: string, options?: CallOptions): Promise<JobQuery[]>;
}

export interface Dragoman {
  /** Jobs whose machine translation a human editor corrects. */
  jobs: Jobs<JobRequest, JobCreation, Operations['listJobs']['query']> & {
    /**
     * Creates up to 1000 jobs in order: all of them, or none if one is invalid. A retry after a lost response does
     * not create them again.
     *
     * @throws DragomanError 400 with `fields`, such as `objects[3].text`
     */
    createMany(jobs: JobRequest[], options?: CallOptions): Promise<JobCreation[]>;
    /** Accepts a completed job for good. Accepting it again has no effect. @throws DragomanError 400, 404 */
    accept(uid: string, options?: CallOptions): Promise<Job>;
    /**
     * Returns a completed job to its editors, free of charge. They read the reason.
     *
     * @throws DragomanError 400 when the job is not completed or no editor worked on it, 404
     */
    reject(uid: string, reason: string, options?: CallOptions): Promise<Job>;
  };
  /** Jobs with machine translation only. */
  machineJobs: Jobs<MachineJobRequest, MachineJobCreation, Operations['listMachineJobs']['query']> & {
    /**
     * Turns a completed machine job into a human job. It is then listed in `jobs`, with the same uid and the human
     * price.
     *
     * @throws DragomanError 400 for a job that is not completed, 402, 404
     */
    upgrade(
      uid: string,
      properties?: UpgradeRequest['properties'],
      options?: CallOptions,
    ): Promise<JobCreation>;
  };
  queries: Queries;
  chats: Chats;
  deliveries: Deliveries;
  webhookEndpoints: WebhookEndpoints;
  /** Returns the events after a cursor, in a fixed order. Store `next` and pass it to the next call. */
  events(from?: Operations['listEvents']['query'], options?: CallOptions): Promise<EventPage>;
  /** Returns the available language pairs. */
  languagePairs(options?: CallOptions): Promise<LanguagePair['lang_pair'][]>;
  /** Returns the possible values of a job's `tone`. */
  tones(options?: CallOptions): Promise<Tone['tone'][]>;
  /** Returns the possible values of a job's `topics`. */
  topics(options?: CallOptions): Promise<Topic['topic'][]>;
  /** Returns the API key's account, with its balance in the key's environment, in cents. */
  account(options?: CallOptions): Promise<Account>;
  /** Returns the number of words that a job with this text is charged for. */
  wordCount(request: WordCountRequest, options?: CallOptions): Promise<number>;
  /** Returns the price of a job in both tiers. Creates nothing. @throws DragomanError 400 with `fields` */
  quote(job: JobRequest, options?: CallOptions): Promise<Quote>;
  /** Returns a page of entries of the translation memory. Its `next` is the `after` of the next page. */
  searchMemory(search?: Operations['searchMemory']['query'], options?: CallOptions): Promise<MemoryEntryList>;
  /** Returns terms of a brand's glossary for a target language. */
  terms(search: Operations['listTerms']['query'], options?: CallOptions): Promise<TermList>;
  /**
   * Moves everything that waits in the sandbox forward in time.
   *
   * @param seconds up to 259,200 (72 hours)
   * @throws DragomanError 404 outside the sandbox
   */
  skipSandboxTime(seconds: number, options?: CallOptions): Promise<SkippedTime>;
}

const UNFINISHED: readonly JobStatus[] = ['new', 'machine_translate_in_progress', 'translating'];
const FIRST_POLL_MILLISECONDS = 500;
const POLL_GROWTH = 1.5;
const LONGEST_POLL_MILLISECONDS = 30_000;

/** Creates a client for one account in one environment. */
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
      async accept(uid, options) {
        return (await transport.call('acceptJob', { ...options, path: { uid }, repeatable: true })) as Job;
      },
      // The request is not retried, because a second rejection is refused while the editors work.
      async reject(uid, reason, options) {
        const given = { ...options, path: { uid }, body: { reason }, repeatable: false };
        return (await transport.call('rejectJob', given)) as Job;
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
    queries: {
      async list(filter, options) {
        return (await transport.call('listQueries', { ...options, query: filter, repeatable: true })).objects;
      },
      async answer(query, answer, options) {
        const given = { ...options, path: { query }, body: { answer }, repeatable: true };
        return (await transport.call('answerQuery', given)).objects;
      },
    },
    chats: chatsOf(transport),
    deliveries: deliveriesOf(transport),
    webhookEndpoints: webhookEndpointsOf(transport),
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
    quote: (job, options) => transport.call('quoteJob', { ...options, body: job, repeatable: true }),
    searchMemory: (search, options) =>
      transport.call('searchMemory', { ...options, query: search, repeatable: true }),
    terms: (search, options) => transport.call('listTerms', { ...options, query: search, repeatable: true }),
    // The request is not retried, because each attempt might skip the time again.
    skipSandboxTime: (seconds, options) =>
      transport.call('skipSandboxTime', { ...options, body: { seconds }, repeatable: false }),
  };
}

/** The names of the operations on jobs of one tier. */
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
      // An empty uid counts as no uid, because the service ignores it. Without a key, each attempt would create
      // another job.
      const idempotencyKey = options.idempotencyKey ?? (job.uid ? undefined : crypto.randomUUID());
      const given = { ...options, body: job, idempotencyKey, repeatable: true };
      return (await transport.call(operations.create, given)) as Creation;
    },
    async *list(filter, options = {}) {
      // The next page starts after the last uid instead of at an offset. Such pages stay fast, and new jobs do not
      // shift them.
      const first = filter?.offset === undefined ? { after: '', ...filter } : filter;
      for (let query: ListQuery = first; ; ) {
        const page = await transport.call(operations.list, { ...options, query, repeatable: true });
        yield* page.objects as JobListItem[];
        if (page.meta.next === null) return;
        // Only the query string of `next` is used, because a proxy may serve the API under another path.
        query = Object.fromEntries(new URLSearchParams(page.meta.next.split('?')[1]));
      }
    },
    async cancel(uid, options) {
      try {
        await transport.call(operations.cancel, { ...options, path: { uid }, repeatable: true });
      } catch (error) {
        // The service rejects a second cancellation. The first may be our own earlier attempt, whose response was
        // lost.
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
      // Without an `external_id`, each attempt would create another chat.
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
    // The request is not retried, because the delivery might then be attempted twice.
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

function webhookEndpointsOf(transport: Transport): WebhookEndpoints {
  return {
    async list(options) {
      return (await transport.call('listWebhookEndpoints', { ...options, repeatable: true })).objects;
    },
    // Creating and deleting are not retried: the second attempt would be refused because the first succeeded.
    create: (endpoint, options) =>
      transport.call('createWebhookEndpoint', { ...options, body: endpoint, repeatable: false }),
    get: (id, options) =>
      transport.call('getWebhookEndpoint', { ...options, path: { endpoint_id: id }, repeatable: true }),
    change(id, change, options) {
      const given = { ...options, path: { endpoint_id: id }, body: change, repeatable: true };
      return transport.call('changeWebhookEndpoint', given);
    },
    delete: (id, options) =>
      transport.call('deleteWebhookEndpoint', { ...options, path: { endpoint_id: id }, repeatable: false }),
    // The request is not retried, because each attempt would create another secret.
    rollSecret(id, overlap, options) {
      const given = { ...options, path: { endpoint_id: id }, body: { overlap }, repeatable: false };
      return transport.call('rollWebhookEndpointSecret', given);
    },
  };
}
