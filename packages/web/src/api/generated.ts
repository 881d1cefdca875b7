// Written by `npm run client-types` from the description of the interface. Not to be edited.

/** The credentials of a new account. Only this answer contains them. */
export type AccountCredentials = {
  username: string;
  production_key: string;
  sandbox_key: string;
  webhook_secret_production: string;
  webhook_secret_sandbox: string
};

export type AccountStatus = 'active' | 'suspended';

/** Something that needs an operator’s attention. */
export type Attention = {
  kind: 'engine' | 'queue' | 'host' | 'dead' | 'reported' | 'late' | 'unserved' | 'overdrawn' | 'low' | 'requests';
  severity: 'bad' | 'look';
  subject: string;
  account?: string | undefined;
  /** A count; for an overdrawn account or a low balance, cents. */
  amount: number;
  /** ISO 8601, in UTC. */
  since?: string | undefined
};

export type AuditEntries = {
  entries: AuditEntry[];
  next: string | null
};

export type AuditEntry = {
  audit_id: string;
  /** ISO 8601, in UTC. */
  at: string;
  actor: 'person' | 'key' | 'command' | 'program';
  /** The e-mail address of the user at that time, the public part of the API key, or the system user who ran the command. */
  name: string;
  action: string;
  account: string | null;
  subject: string;
  detail: {

  }
};

export type BrandDraft = {
  name: string;
  default: boolean;
  /** The result of a human job that no editor finished before its deadline. */
  fallback: 'wait' | 'machine';
  /** What a confirmed text does to waiting segments with the same source: nothing, a draft, or also a confirmation once editors agree. */
  votes: 'off' | 'draft' | 'confirm';
  /** Regular expressions in the syntax of RE2. What they match in a text is not translated. */
  protect: string[];
  languages: ConsoleBrandLanguage[];
  revision: number;
  /** Whether the brand was published in another way since the draft was started. */
  stale: boolean;
  /** ISO 8601, in UTC. */
  changed_at: string;
  changed_by: string;
  changes: ConsoleBrandChanges
};

export type ChangedSegments = {
  /** The segments that are listed now. */
  segments: Segment[]
};

export type ChatMessage = {
  id: string;
  chat_id: string;
  /** Your identifier of the message, unique in its chat. */
  external_id: string;
  /** The author of the message. */
  author_external_id: string | null;
  /** The URL to which the result is posted: public, http or https, without credentials. */
  callback_url?: string | undefined;
  /** `true` for a message of a customer, `false` for a message of an agent. */
  is_inbound: boolean | null;
  /** A language code. */
  source_language: string;
  /** A language code. */
  target_language: string;
  text: string;
  text_format: MessageFormat;
  /** The translation, in the format of `text`; present when the message is translated. */
  translated_text?: string | undefined;
  /** The number of sentences that no engine could translate. They keep their source text and are not charged. Absent if all were translated. */
  untranslated?: number | undefined;
  /** The id of the translation. */
  translation_uid: string;
  status: MessageStatus;
  creation_date: string;
  /** The time of the translation. */
  completion_date?: string | undefined
};

export type ChatMessageList = {
  /** The number of all messages of the chat. */
  length: number;
  messages: ChatMessage[];
  index: number;
  limit: number
};

export type ChatSubscription = {
  /** The language pairs of the subscription; null for every pair. */
  pairs: string[] | null;
  from: string | null;
  until: string | null
};

export type Claimed = {
  task: Task;
  lease: Lease
};

export type Comment = {
  comment: string;
  /** The number of the segment in its job, from 0. */
  position?: number | undefined;
  text: string;
  /** The name of the author; for a customer, the user name of the account. */
  by: string;
  role: 'customer' | 'editor' | 'operator';
  /** ISO 8601, in UTC. */
  created_at: string
};

export type ComparedEngine = {
  engine: string;
  state: 'waiting' | 'translating' | 'done';
  /** Sentences. */
  translated: number;
  /** All sentences; 0 until a worker has begun. */
  segments: number;
  /** Null until all engines are done. */
  measures: EngineMeasures | null
};

export type ComparedText = {
  source: string;
  reference: string | null;
  translations: ComparedTranslation[]
};

export type ComparedTranslation = {
  engine: string;
  /** Without the sentences that failed. */
  text: string;
  /** Whether no sentence failed. */
  complete: boolean;
  /** chrF2 against the reference, 0 to 100; null without references. */
  chrf: number | null;
  /** Words of the source that are in the translation unchanged. */
  copied: string[]
};

export type Concordance = {
  entries: ({
    memory: string;
    source: string;
    target: string;
    /** ISO 8601, in UTC. */
    created_at: string
  })[]
};

export type ConsoleAccount = {
  username: string;
  status: AccountStatus;
  email: string | null;
  /** ISO 8601, in UTC. */
  created_at: string;
  /** The version of the fields that can be changed. A change must contain it. */
  version: string;
  default_brand: string | null;
  chat: ChatSubscription | null;
  /** The requests a second that each key may send; 0 for no limit, null for the usual limit. */
  key_requests: number | null;
  balances: ({
    environment: 'production' | 'sandbox';
    /** US cents. */
    balance: number;
    credit_limit: number | null
  })[];
  keys: ConsoleKey[];
  jobs: ({
    environment: 'production' | 'sandbox';
    tier: string;
    status: string;
    jobs: number
  })[]
};

export type ConsoleBrand = {
  external_id: string;
  published: PublishedBrand | null;
  draft: BrandDraft | null
};

export type ConsoleBrandChanges = {
  change: 'added' | 'changed' | 'unchanged';
  name: boolean;
  fallback: boolean;
  votes: boolean;
  protect: boolean;
  default: 'becomes' | 'no longer' | 'unchanged';
  languages: ({
    language: string;
    change: 'added' | 'changed' | 'removed' | 'unchanged';
    tone: boolean;
    instructions: boolean;
    added: number;
    changed: number;
    removed: number;
    reordered: boolean
  })[]
};

export type ConsoleBrandLanguage = {
  language: string;
  tone: string | null;
  instructions: string | null;
  terms: number
};

export type ConsoleBrandPreview = {
  language: string | null;
  tone: string | null;
  instructions: string | null;
  marks: ({
    start: number;
    end: number;
    terms: ConsoleTerm[]
  })[]
};

export type ConsoleBrands = {
  brands: ({
    external_id: string;
    name: string;
    default: boolean;
    /** How many times the brand was published; null if it never was. */
    version: number | null;
    changed_at: string | null;
    draft: boolean;
    languages: string[];
    terms: number
  })[]
};

export type ConsoleDeliveries = {
  deliveries: ConsoleDelivery[];
  hosts: FailingHost[];
  next: string | null
};

export type ConsoleDelivery = {
  account: string;
  environment: 'production' | 'sandbox';
  /** The id of the delivery, sent as `webhook-id`. */
  id: string;
  event: EventType;
  status: DeliveryStatus;
  /** The URL to which the delivery is posted. */
  url: string;
  /** The uid of the job that the event is about. */
  uid?: string | undefined;
  chat_id?: string | undefined;
  /** The message that the event is about. */
  message_id?: string | undefined;
  /** The webhook endpoint; absent for a callback. */
  endpoint_id?: string | undefined;
  failure?: DeliveryFailure | undefined;
  created_at: string;
  finished_at?: string | undefined;
  /** The earliest time of the next attempt. */
  next_attempt_at?: string | undefined;
  /** The HTTP status of the last attempt, if the receiver answered. */
  last_status_code?: number | undefined;
  last_outcome?: DeliveryOutcome | undefined;
  /** The number of attempts. */
  attempts: number
};

export type ConsoleDeliveryDetail = {
  account: string;
  environment: 'production' | 'sandbox';
  /** The id of the delivery, sent as `webhook-id`. */
  id: string;
  event: EventType;
  status: DeliveryStatus;
  /** The URL to which the delivery is posted. */
  url: string;
  /** The uid of the job that the event is about. */
  uid?: string | undefined;
  chat_id?: string | undefined;
  /** The message that the event is about. */
  message_id?: string | undefined;
  /** The webhook endpoint; absent for a callback. */
  endpoint_id?: string | undefined;
  failure?: DeliveryFailure | undefined;
  created_at: string;
  finished_at?: string | undefined;
  /** The earliest time of the next attempt. */
  next_attempt_at?: string | undefined;
  /** The HTTP status of the last attempt, if the receiver answered. */
  last_status_code?: number | undefined;
  last_outcome?: DeliveryOutcome | undefined;
  /** The number of attempts. */
  attempts: number;
  content_type: string;
  /** The first 64 KiB of the body. */
  body: string;
  attempts_made: DeliveryAttempt[]
};

export type ConsoleEngine = {
  engine: string;
  /** Of the worker that sees it worst. `open`: it is left alone after failures; `away`: no worker reports on it. */
  state: 'closed' | 'half-open' | 'open' | 'away';
  since: string | null;
  /** That have it. */
  workers: number;
  /** Slices of texts that wait for their turn. */
  waiting: number;
  version: string | null;
  pairs: number;
  last_hour: {
    answered: number;
    failed: number;
    mean: number;
    slowest: number;
    /** Segments that it translated or failed to translate. */
    segments: number;
    failed_segments: number
  };
  /** Of the last hour; those without requests are left out. */
  minutes: ({
    /** ISO 8601, in UTC. */
    minute: string;
    answered: number;
    failed: number;
    /** Milliseconds. */
    mean: number;
    slowest: number
  })[];
  errors: ({
    /** ISO 8601, in UTC. */
    at: string;
    reason: string;
    /** Segments that failed for this reason within a minute. */
    count: number
  })[]
};

export type ConsoleEngines = {
  engines: ConsoleEngine[];
  /** ISO 8601, in UTC. */
  at: string
};

export type ConsoleHome = {
  /** ISO 8601, in UTC. */
  at: string;
  /** Most severe first; empty when nothing needs attention. */
  attention: Attention[];
  queues: ({
    source_language: string;
    target_language: string;
    waiting: number;
    working: number;
    /** The age of the oldest job, in seconds. */
    oldest: number
  })[];
  /** The tasks of editors by language pair. */
  tasks: ({
    source_language: string;
    target_language: string;
    waiting: number;
    claimed: number;
    reported: number;
    /** The tasks whose deadline has passed. */
    late: number;
    /** The waiting tasks that no editor has the right to claim. */
    unserved: number;
    /** The age of the oldest waiting task, in seconds. */
    oldest: number
  })[];
  /** The steps to a working installation; empty when all are done. */
  setup: ({
    step: 'operator' | 'mail' | 'engine' | 'model' | 'account' | 'price' | 'editors' | 'job';
    done: boolean
  })[];
  engines: ({
    engine: string;
    state: 'closed' | 'half-open' | 'open' | 'away';
    waiting: number;
    /** The requests that the engine answered in the last hour. */
    answered: number;
    failed: number
  })[];
  /** The jobs created in each of the last 24 hours. */
  hours: ({
    /** ISO 8601, in UTC. */
    hour: string;
    created: number;
    words: number;
    failed: number
  })[];
  /** US cents. */
  owed: number
};

/** Each list has at most 100 terms. */
export type ConsoleImport = {
  dry_run: boolean;
  /** The faults of the file with their lines. A file with a fault is not imported. */
  errors: ({
    where: string;
    reason: string
  })[];
  more_errors: number;
  /** The number of concepts without terms in both languages. */
  skipped: number;
  added: ConsoleTerm[];
  changed: ConsoleTerm[];
  removed: ConsoleTerm[];
  counts: {
    added: number;
    changed: number;
    removed: number;
    unchanged: number
  }
};

export type ConsoleJob = {
  account: string;
  job: string;
  order_number: number;
  environment: 'production' | 'sandbox';
  tier: 'human' | 'machine';
  uid: string;
  status: 'new' | 'machine_translate_in_progress' | 'translating' | 'completed' | 'failed' | 'canceled' | 'accepted' | 'rejected';
  source_language: string;
  target_language: string;
  text_format: string;
  words: number;
  /** US cents. */
  price: number;
  /** ISO 8601, in UTC. */
  created_at: string;
  finished_at: string | null;
  failure: string | null
};

export type ConsoleJobDetail = {
  account: string;
  job: string;
  order_number: number;
  environment: 'production' | 'sandbox';
  tier: 'human' | 'machine';
  uid: string;
  status: 'new' | 'machine_translate_in_progress' | 'translating' | 'completed' | 'failed' | 'canceled' | 'accepted' | 'rejected';
  source_language: string;
  target_language: string;
  text_format: string;
  words: number;
  /** US cents. */
  price: number;
  /** ISO 8601, in UTC. */
  created_at: string;
  finished_at: string | null;
  failure: string | null;
  discounts: Discount[];
  brand: string | null;
  tone: string | null;
  callback_url: string | null;
  /** The time at which a worker processes the job next; null for never. */
  due_at: string | null;
  attempts: number;
  /** Whether a worker processes the job now. */
  leased: boolean;
  /** Null when nobody works on the job, or its progress is unknown. */
  progress: JobProgress | null;
  /** Null if no editor worked on the job, or it failed or was canceled, and in each entry but the charge of a job. */
  edited_words: EditedWords | null;
  may: {
    cancel: boolean;
    retry: boolean;
    refund: boolean;
    redraft: boolean
  };
  /** Segments that no editor has claimed or touched; a redraft replaces them. */
  untouched: number;
  /** The engine of a redraft in progress, or empty for the engine route; null without a redraft. */
  redraft: string | null;
  /** The engines that serve the job’s language pair. */
  engines: string[];
  timeline: ConsoleJobStep[];
  deliveries: Delivery[];
  /** Segments by the engine route that drafted them, or by the reason for which they have no draft. */
  routes: ({
    route: string | null;
    failure: string | null;
    segments: number
  })[];
  /** Segments that keep their source text in the result, by the reason of their failure. */
  untranslated: ({
    failure: string;
    segments: number
  })[];
  /** The first 20,000 characters of each text. */
  texts: ({
    kind: string;
    body: string;
    characters: number
  })[]
};

export type ConsoleJobStep = {
  /** ISO 8601, in UTC. */
  at: string;
  kind: 'created' | 'moved' | 'money';
  /** The new status. */
  status?: string | undefined;
  actor?: string | undefined;
  detail?: string | undefined;
  /** The kind of transfer. */
  money?: string | undefined;
  /** US cents. */
  cents?: number | undefined
};

export type ConsoleJobs = {
  jobs: ConsoleJob[];
  next: string | null
};

export type ConsoleKey = {
  /** The public part of the key. The key contains it after its prefix. */
  key_id: string;
  environment: 'production' | 'sandbox';
  name: string;
  dialect: 'spec' | 'legacy';
  read_only: boolean;
  /** The parts of the API that the key may use; null for every part. */
  scopes: KeyScope[] | null;
  /** The most that the key may order in a day (UTC), in cents; null for no limit. */
  daily_cents: number | null;
  /** What the key ordered today, in cents. It is counted only for a key with a limit. */
  ordered_cents: number;
  /** ISO 8601, in UTC. */
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  revoked_at: string | null;
  live: boolean;
  /** The e-mail address of the user who created the key; null for a command or a sandbox link. */
  made_by: string | null
};

/** A new key. Only this answer contains it. */
export type ConsoleMadeKey = {
  key_id: string;
  environment: 'production' | 'sandbox';
  name: string;
  key: string
};

export type ConsolePair = {
  source_language: string;
  target_language: string;
  source_name: string;
  target_name: string;
  enabled: boolean;
  engines: ({
    engine: string;
    route: string;
    hops: number
  })[]
};

export type ConsolePairs = {
  /** At most 500. */
  pairs: ConsolePair[];
  /** The number of matching pairs. */
  total: number
};

export type ConsolePerson = {
  user_id: string;
  email: string;
  name: string;
  role: PersonRole;
  account: string | null;
  /** Whether the user may decide on retention, export and erasure of the account. */
  owner: boolean;
  status: 'active' | 'invited' | 'disabled';
  /** Whether a code is asked for at sign-in. */
  second_factor: boolean;
  languages: EditorLanguage[];
  /** The percentage of the editor’s tasks that is reviewed. */
  review_share: number;
  /** ISO 8601, in UTC. */
  created_at: string;
  last_seen_at: string | null;
  keys: CreatedKey[]
};

export type ConsolePrice = {
  tier: 'human' | 'machine';
  /** The account; null for all accounts. */
  account: string | null;
  /** The source language; `*` for all pairs. */
  source_language: string;
  target_language: string;
  cents_per_word: number;
  /** ISO 8601, in UTC. */
  from: string;
  until: string | null
};

export type ConsolePrices = {
  /** Current and future prices. */
  prices: ConsolePrice[];
  defaults: {
    human: number;
    machine: number
  };
  /** The price of a matched word in percent of its full price, by the kind of its match. */
  shares: {
    context: number;
    exact: number;
    fuzzy95: number;
    fuzzy85: number;
    fuzzy75: number;
    repeat: number
  }
};

export type ConsoleProtected = {
  /** What is not translated, in UTF-16 offsets. It contains what every brand protects. */
  parts: ({
    start: number;
    end: number
  })[]
};

export type ConsoleReplayed = {
  replayed: number
};

export type ConsoleRoute = {
  source_language: string;
  target_language: string;
  tier: '*' | 'human' | 'machine' | 'chat';
  account: string | null;
  brand: string | null;
  engines: string[]
};

export type ConsoleRoutes = {
  routes: ConsoleRoute[];
  /** The order of the settings, where no route fits. */
  fallback: string[];
  /** Every engine that a route may name. */
  known: string[]
};

export type ConsoleSetPrice = {
  price: ConsolePrice;
  /** The current price, which ends when the new price begins. */
  ends: ConsolePrice | null;
  dry_run: boolean
};

export type ConsoleSettings = {
  settings: ({
    name: string;
    /** The value of the setting; empty for a secret. */
    value: string;
    secret: boolean;
    /** Whether the value differs from the default. */
    set: boolean;
    default: string;
    meaning: string
  })[]
};

export type ConsoleStatement = {
  /** US cents. */
  opening: number;
  /** US cents. */
  closing: number;
  /** The latest 500, oldest first. */
  lines: ConsoleStatementLine[];
  /** Amounts added and spent on each day of the period. */
  days: ({
    day: string;
    /** US cents. */
    put: number;
    /** US cents. */
    spent: number
  })[]
};

export type ConsoleStatementLine = {
  /** ISO 8601, in UTC. */
  at: string;
  kind: string;
  uid: string | null;
  memo: string | null;
  /** US cents. */
  amount: number;
  /** US cents. */
  change: number;
  /** US cents. */
  balance: number;
  discounts: Discount[];
  /** Null if no editor worked on the job, or it failed or was canceled, and in each entry but the charge of a job. */
  edited_words: EditedWords | null
};

export type ConsoleTask = {
  task: string;
  kind: TaskKind;
  status: TaskStatus;
  /** Whether a reviewer or the customer returned it. */
  returned: boolean;
  /** The name that the customer gave the job. */
  uid: string;
  order_number: number;
  format: 'text' | 'html' | 'srt' | 'xliff';
  source_language: string;
  target_language: string;
  tone: string | null;
  topics: string[];
  /** The name of the brand. */
  brand: string | null;
  words: number;
  segments: number;
  /** The number of its confirmed segments. */
  confirmed: number;
  priority: number;
  /** `late`: the deadline has passed. `soon`: less than half of the time is left. */
  urgency: 'late' | 'soon' | 'normal';
  /** Whether the task is reserved for this editor for some hours. */
  reserved: boolean;
  /** The duration of a claim. */
  minutes: number;
  /** ISO 8601, in UTC. */
  created_at: string;
  /** ISO 8601, in UTC. */
  deadline: string;
  /** The user name of the account. */
  account: string;
  job: string;
  /** The editor who holds the task, or held it last. */
  editor: {
    user: string;
    name: string
  } | null;
  lease_until: string | null;
  skips: number;
  reports: ({
    reason: string;
    note: string | null;
    by: string;
    /** ISO 8601, in UTC. */
    created_at: string
  })[]
};

export type ConsoleTasks = {
  tasks: ConsoleTask[];
  /** Unfinished tasks by language pair, kind and status. */
  counts: ({
    source_language: string;
    target_language: string;
    kind: TaskKind;
    status: TaskStatus;
    tasks: number;
    words: number;
    /** ISO 8601, in UTC. */
    oldest_at: string
  })[];
  more: boolean
};

export type ConsoleTerm = {
  source: string;
  target?: string | undefined;
  case_sensitive?: boolean | undefined;
  forbidden?: boolean | undefined;
  do_not_translate?: boolean | undefined;
  note?: string | undefined
};

export type ConsoleTerms = {
  terms: ({
    source: string;
    target?: string | undefined;
    case_sensitive?: boolean | undefined;
    forbidden?: boolean | undefined;
    do_not_translate?: boolean | undefined;
    note?: string | undefined;
    /** The difference from the published glossary. */
    change: 'added' | 'changed' | 'unchanged';
    /** The number of translations of the same source. */
    alternatives: number
  })[];
  /** Published terms that the draft does not contain. */
  removed: ConsoleTerm[];
  total: number
};

/** An active key that the user created. */
export type CreatedKey = {
  key_id: string;
  environment: 'production' | 'sandbox';
  name: string;
  /** The account of the key. */
  username: string
};

export type CreatedWebhookEndpoint = {
  id: string;
  environment: 'production' | 'sandbox';
  url: string;
  /** The types of events that the endpoint gets; null for all. */
  events: EndpointEventType[] | null;
  description: string;
  /** The public part of the API key that set the URL, which may be revoked by now; null if a user set it. */
  key_id: string | null;
  status: EndpointStatus;
  /** ISO 8601, in UTC. */
  created_at: string;
  /** The secret that signs deliveries. Only this answer contains it. */
  webhook_secret: string
};

export type Delivery = {
  /** The id of the delivery, sent as `webhook-id`. */
  id: string;
  event: EventType;
  status: DeliveryStatus;
  /** The URL to which the delivery is posted. */
  url: string;
  /** The uid of the job that the event is about. */
  uid?: string | undefined;
  chat_id?: string | undefined;
  /** The message that the event is about. */
  message_id?: string | undefined;
  /** The webhook endpoint; absent for a callback. */
  endpoint_id?: string | undefined;
  failure?: DeliveryFailure | undefined;
  created_at: string;
  finished_at?: string | undefined;
  /** The earliest time of the next attempt. */
  next_attempt_at?: string | undefined;
  /** The HTTP status of the last attempt, if the receiver answered. */
  last_status_code?: number | undefined;
  last_outcome?: DeliveryOutcome | undefined;
  /** The number of attempts. */
  attempts: number
};

export type DeliveryAttempt = {
  attempt: number;
  started_at: string;
  finished_at?: string | undefined;
  outcome?: DeliveryOutcome | undefined;
  /** A description of the failure, if there was no answer. */
  detail?: string | undefined;
  status_code?: number | undefined;
  /** The milliseconds until the status line. */
  milliseconds?: number | undefined;
  /** The headers of the answer, shortened, without cookies. */
  headers?: Record<string, string> | undefined;
  /** The first 4 KiB of the body of the answer. */
  answer?: string | undefined;
  /** False if the answer was cut at the limit or broke off. */
  answer_complete?: boolean | undefined
};

/** Why the delivery is dead: `gone` after 410, `out of time` after 72 hours, `endpoint disabled` if its webhook endpoint was disabled or deleted, `test failed` after the only attempt of a test of a URL in the web app. */
export type DeliveryFailure = 'gone' | 'out of time' | 'endpoint disabled' | 'test failed';

export type DeliveryList = {
  objects: Delivery[];
  /** The value of `after` for the next page; null at the end. */
  next: string | null
};

/** How the attempt ended; absent while it is in progress, or if the sender stopped during it. */
export type DeliveryOutcome = 'answered' | 'timeout' | 'refused address' | 'connect' | 'reset' | 'tls' | 'other';

export type DeliveryRequest = {
  method: 'POST';
  content_type: string;
  /** The headers of every attempt. The signature is masked; `webhook-timestamp`, the second of the attempt, is missing. */
  headers: Record<string, string>;
  /** The first 64 KiB of the body. */
  body: string;
  /** The size of the whole body. */
  body_bytes: number
};

/** `pending` until the receiver answers 2xx; `dead` after 410 or 72 hours. */
export type DeliveryStatus = 'pending' | 'delivered' | 'dead';

export type DisableRequest = {
  /** Whether to revoke the keys that the user created. */
  revoke_keys?: boolean | undefined
};

export type Disagreement = {
  disagreement: string;
  /** Where the source stands: as the `only` segment of a text, `first`, or `later`. */
  context: 'only' | 'first' | 'later';
  source_language: string;
  target_language: string;
  brand: string | null;
  tone: string | null;
  /** The text without codes. */
  source: string;
  ruled_at: string | null;
  /** The rule, then the texts of most editors; at most 10. */
  texts: ({
    vote: string;
    /** A hash of the text; it changes when the text changes. */
    hash: string;
    /** The text without codes. */
    target: string;
    /** The number of editors who prefer the text. */
    editors: number;
    rule: boolean
  })[]
};

export type Disagreements = {
  /** Latest first. A page may have fewer than `limit`, even none. */
  disagreements: Disagreement[];
  /** The `before` of the next page; null on the last. */
  next: string | null
};

/** Words that cost only a share of their price. */
export type Discount = {
  /** The match of the words: `context` and `exact` are sentences that an editor confirmed in an earlier job, with or without the same neighbors; `fuzzy95`, `fuzzy85` and `fuzzy75` are similar to such a sentence, by at least 95, 85 or 75 %; `repeat` are sentences that occurred earlier in the text. */
  kind: 'context' | 'exact' | 'fuzzy95' | 'fuzzy85' | 'fuzzy75' | 'repeat';
  words: number;
  /** Percent of the price of a word. */
  share: number
};

export type DocumentFormat = {
  format: 'text' | 'html' | 'srt' | 'xliff';
  extensions: string[]
};

export type DocumentOptions = {
  /** The offered language pairs, by source language. */
  languages: ({
    /** A language code. */
    source_language: string;
    target_languages: string[]
  })[];
  formats: DocumentFormat[];
  tones: string[];
  /** The maximum size of a document in bytes of UTF-8. */
  max_bytes: number;
  /** Whether the server sends mails about documents of this environment. */
  mails: boolean
};

export type DocumentQuote = {
  /** The given or detected source language. */
  source_language: string;
  words: number;
  /** US cents. */
  price: number;
  discounts: Discount[];
  /** The number of sentences, from the beginning of the text, that were compared with similar sentences of the memory. Absent if all were, or if the operator has set no share for similar sentences. */
  counted?: number | undefined
};

export type DocumentQuotes = {
  /** One for each target language, in the order of the request. */
  quotes: TargetQuote[]
};

/** The `error` of an error answer, with all its fields. */
export type DocumentRefusal = {
  code: WebErrorCode;
  /** A sentence for people, in English. */
  message: string
};

export type EditedWords = {
  /** Words of the segments that an editor confirmed. */
  opened: number;
  /** Words of the segments with a text that editors confirmed in other jobs, if nobody has changed it. If an editor then confirmed such a segment, its words count in both numbers. */
  voted: number
};

export type EditorLanguage = {
  source_language: string;
  target_language: string;
  /** Whether the editor may also review this language pair. */
  review: boolean
};

export type Effort = {
  rows: ({
    /** The uid of the job, the source of the draft, or the name of the editor, as `by` requests. */
    key: string;
    segments: number;
    words: number;
    active_ms: number;
    distance: number;
    /** Segments whose draft was confirmed unchanged. */
    untouched: number
  })[]
};

export type EndpointEventType = 'job.completed' | 'job.failed' | 'job.canceled' | 'job.asked' | 'message.translated' | 'message.failed' | 'message.corrected';

export type EndpointSecret = {
  /** The secret that signs deliveries. Only this answer contains it. */
  webhook_secret: string;
  /** The moment until which the previous secrets sign. */
  previous_ends: string
};

/** A `disabled` or `failed` endpoint gets no deliveries. An endpoint becomes `failed` if at least 10 deliveries of the last 5 days are dead and none was delivered. */
export type EndpointStatus = 'active' | 'disabled' | 'failed';

export type EngineComparison = {
  source_language: string;
  target_language: string;
  finished: boolean;
  engines: ComparedEngine[];
  /** The lines of the text; empty until all engines are done. */
  texts: ComparedText[]
};

export type EngineMeasures = {
  /** chrF2 against the reference, 0 to 100; null without references. */
  chrf: number | null;
  agreement: number | null;
  copied: number | null;
  /** The mean of the engine’s own confidences, 0 to 1; null if it reports none. */
  confidence: number | null;
  words_per_second: number;
  /** US cents, by the costs in the settings. */
  cents: number;
  /** The failed sentences by reason. */
  failed: Record<string, number>
};

export type EngineTested = {
  status: 'translated' | 'failed' | 'unsupported';
  text?: string | undefined;
  route?: string | undefined;
  reason?: string | undefined;
  milliseconds: number
};

export type Erasing = {
  /** ISO 8601, in UTC. */
  requested_at: string
};

export type EventType = 'job.completed' | 'job.failed' | 'job.canceled' | 'job.asked' | 'message.translated' | 'message.failed' | 'message.corrected' | 'test';

export type FailedDeliveries = {
  /** Capped at 10,000. */
  failed: number;
  /** The count includes deliveries that died before this time. */
  until: string
};

/** A host of an account that gets no deliveries because it fails. */
export type FailingHost = {
  username: string;
  host: string;
  failures: number;
  open_until: string | null;
  since: string | null;
  waiting: number
};

export type FieldReason = 'required' | 'text' | 'not_empty' | 'text_length' | 'text_at_most' | 'one_line' | 'has_length' | 'has_at_least' | 'has_at_most' | 'number' | 'whole_number' | 'one_of' | 'exactly' | 'yes_or_no' | 'date' | 'in_the_future' | 'before_the_end' | 'days_before_the_end' | 'language' | 'id' | 'list' | 'any_list' | 'list_length' | 'list_of_texts' | 'object' | 'shape' | 'unusable' | 'uid' | 'origin' | 'email' | 'email_taken' | 'password_wrong' | 'password_guessed' | 'password_is_email' | 'code_wrong' | 'account_name' | 'job_not_to_accept' | 'job_not_to_reject' | 'job_of_machine' | 'job_without_editor' | 'job_fell_back' | 'job_forgotten' | 'task_not_for_editor' | 'rule_fails' | 'term_known' | 'term_proposed' | 'term_untranslated' | 'too_many_proposals' | 'query_exists' | 'url' | 'endpoint_exists' | 'too_many_endpoints' | 'tmx' | 'document_invalid' | 'language_undetermined' | 'pair_not_offered' | 'lines_at_most' | 'line_at_most' | 'line_without_reference' | 'reference_without_line';

/** A problem that an automatic check reports about a target. */
export type Finding = {
  /** The check that found the problem; clients make the message from it and `values`. */
  check: string;
  severity: 'error' | 'warning';
  values: Record<string, string | number>;
  /** Offsets in the text, in UTF-16 code units; codes have no width. */
  range?: {
    start: number;
    end: number
  } | undefined;
  /** The words of the source that the target lacks, as offsets like those of `range`. */
  source?: {
    start: number;
    end: number
  } | undefined
};

export type GrantedSandbox = {
  request: SandboxRequest;
  /** The link that shows the key once. Only this answer contains it. */
  link: string;
  /** ISO 8601, in UTC. */
  expires_at: string;
  /** Whether the link was mailed; null if no mail server is configured. */
  mailed: boolean | null
};

export type HeldTask = {
  task: string;
  kind: TaskKind;
  status: TaskStatus;
  /** Whether a reviewer or the customer returned it. */
  returned: boolean;
  /** The name that the customer gave the job. */
  uid: string;
  order_number: number;
  format: 'text' | 'html' | 'srt' | 'xliff';
  source_language: string;
  target_language: string;
  tone: string | null;
  topics: string[];
  /** The name of the brand. */
  brand: string | null;
  words: number;
  segments: number;
  /** The number of its confirmed segments. */
  confirmed: number;
  priority: number;
  /** `late`: the deadline has passed. `soon`: less than half of the time is left. */
  urgency: 'late' | 'soon' | 'normal';
  /** Whether the task is reserved for this editor for some hours. */
  reserved: boolean;
  /** The duration of a claim. */
  minutes: number;
  /** ISO 8601, in UTC. */
  created_at: string;
  /** ISO 8601, in UTC. */
  deadline: string;
  /** The first words of its source; empty after the text was deleted. */
  excerpt: string;
  /** The time for its words at the pace of the installation (`DRAGOMAN_TASK_PACE`). */
  expected_minutes: number;
  /** What the editor earns, in cents (`DRAGOMAN_EDIT_PAY`, `DRAGOMAN_REVIEW_PAY`). */
  pay?: number | undefined;
  lease: Lease
};

export type History = {
  entries: HistoryEntry[]
};

export type HistoryEntry = {
  target: Piece[];
  /** `left`: received after the claim had ended, and kept for the next editor of the task. */
  kind: 'confirmed' | 'left';
  by: string;
  revision: number;
  /** ISO 8601, in UTC. */
  created_at: string
};

/** A valid invitation or reset link. */
export type Invitation = {
  /** `operator`: the link creates the first operator, who has no e-mail address and name yet. */
  purpose: 'invitation' | 'reset' | 'operator';
  email?: string | undefined;
  name?: string | undefined;
  role: PersonRole;
  account?: string | undefined;
  /** Whether the answer needs the code of a second factor. */
  second_factor: boolean;
  /** ISO 8601, in UTC. */
  expires_at: string
};

export type InvitationAnswer = {
  /** Required by the link that creates the first operator. */
  email?: string | undefined;
  name?: string | undefined;
  /** The new password, 10 to 200 characters. */
  password: string;
  /** A code of the authenticator app or a recovery code. */
  code?: string | undefined
};

export type InvitedPerson = {
  person: ConsolePerson;
  /** Valid once, and shown only in this answer. Null if it was mailed to the user. Customers never get it if a mail server is configured. */
  link: string | null;
  /** ISO 8601, in UTC. */
  expires_at: string;
  /** Whether the mail was sent; null if no mail server is configured. */
  mailed: boolean | null
};

/** An error that a reviewer marked, in MQM categories. */
export type Issue = {
  issue: string;
  /** The number of the segment in its job, from 0. */
  position: number;
  category: 'accuracy' | 'terminology' | 'linguistic_conventions' | 'style' | 'locale_conventions' | 'audience_appropriateness' | 'design_and_markup';
  severity: 'neutral' | 'minor' | 'major' | 'critical';
  note?: string | undefined;
  /** Offsets in the text, in UTF-16 code units; codes have no width. */
  range?: {
    start: number;
    end: number
  } | undefined;
  /** The name of the reviewer. */
  by: string;
  /** ISO 8601, in UTC. */
  created_at: string
};

export type JobProgress = {
  work: 'drafting' | 'editing';
  /** Segments drafted by the machine, or confirmed by an editor. */
  done: number;
  /** All segments. */
  segments: number
};

export type JobQueries = {
  /** At most 200: open ones first, each group oldest first. */
  objects: JobQuery[]
};

/** A question of an editor about a segment of a job. */
export type JobQuery = {
  query: string;
  /** The number of the segment in its job, from 0. */
  position: number;
  question: string;
  /** `open`: waits for the answer. `withdrawn`: by an editor. `closed`: the job was delivered or canceled before. */
  status: 'open' | 'answered' | 'withdrawn' | 'closed';
  answer?: string | undefined;
  /** ISO 8601, in UTC. */
  asked_at: string;
  ended_at: string | null;
  /** The job. */
  uid: string;
  /** The source of the segment, without its codes. */
  source: string
};

export type JudgedJob = {
  uid: string;
  environment: 'production' | 'sandbox';
  status: 'new' | 'machine_translate_in_progress' | 'translating' | 'completed' | 'failed' | 'canceled' | 'accepted' | 'rejected'
};

export type KeyScope = 'jobs' | 'machine' | 'chat' | 'deliveries' | 'account';

export type Lease = {
  /** The lease token. Every change of the task sends it; a later claim invalidates it. */
  token: string;
  /** The lease ends then unless a heartbeat extends it. */
  lease_until: string;
  /** The claim ends then. */
  limit_until: string;
  /** The moment when 80 % of the time of the claim has passed. */
  warn_at: string;
  /** Whether the claim was extended; that is possible once. */
  extended: boolean;
  /** The clock of the server, to which these times refer. */
  now: string
};

export type Ledger = {
  environment: 'production' | 'sandbox';
  /** ISO 8601, in UTC. */
  from: string;
  /** ISO 8601, in UTC. */
  until: string;
  /** US cents. */
  opening: number;
  /** US cents. */
  closing: number;
  /** The charges of the period less its refunds, in US cents. */
  charged: number;
  /** The latest 1000, oldest first. */
  entries: LedgerEntry[];
  /** The number of earlier entries that are left out. */
  left_out: number
};

/** All transfers of a job, or one transfer without a job. */
export type LedgerEntry = {
  /** The time of the last transfer. */
  at: string;
  /** The kind of the last transfer. */
  kind: string;
  uid: string | null;
  memo: string | null;
  /** US cents. */
  on_hold: number;
  /** The charges less the refunds, in US cents. */
  charged: number;
  /** The change of the balance. */
  change: number;
  discounts: Discount[];
  /** Null if no editor worked on the job, or it failed or was canceled, and in each entry but the charge of a job. */
  edited_words: EditedWords | null
};

export type ListedAccount = {
  id: string;
  username: string;
  status: AccountStatus;
  email: string | null;
  chat: boolean;
  /** ISO 8601, in UTC. */
  created_at: string;
  /** US cents. */
  balance: number;
  /** The credit limit in cents; null if there is none. */
  credit_limit: number | null;
  /** US cents. */
  sandbox_balance: number
};

export type ListedAccounts = {
  accounts: ListedAccount[];
  next: string | null
};

export type ListedChat = {
  id: string;
  /** Your identifier of the chat. */
  external_id: string;
  /** The agent who serves the chat; should be an e-mail address. */
  agent_external_id: string | null;
  /** The chat’s brand on your platform. If it is a brand of the account, its style and glossary apply. */
  brand: string | null;
  creation_date: string;
  messages: number
};

export type ListedChats = {
  objects: ListedChat[];
  next: string | null
};

export type MadeRule = {
  /** The vote whose text is the rule. Null: none. */
  vote: string | null
};

export type Matches = {
  /** Best match first. */
  matches: TaskMatch[];
  /** The glossary terms that occur in the segment. */
  terms: TaskTerm[]
};

/** The signed-in user. */
export type Me = {
  user_id: string;
  email: string;
  name: string;
  role: PersonRole;
  /** The username of a customer’s account. */
  account?: string | undefined;
  /** For customers. Users of a suspended account can only read. */
  account_status?: 'active' | 'suspended' | undefined;
  /** For customers: whether they may decide on retention, export and erasure of the account. */
  owner?: boolean | undefined;
  /** Null: the browser’s language. */
  locale: string | null;
  theme: Theme;
  languages: EditorLanguage[];
  /** Users of the provider may have no password. */
  has_password: boolean;
  /** Whether a code is asked for at sign-in. */
  second_factor: boolean;
  /** Whether the user must set up a second factor before anything else. */
  second_factor_missing: boolean;
  session: {
    session_id: string;
    /** Whether the provider started the session. */
    by_provider: boolean;
    /** The latest end of the session. */
    ends_at: string;
    /** The session ends after this time without a request. */
    idle_seconds: number
  }
};

export type MeChanges = {
  name?: string | undefined;
  locale?: 'en' | 'de' | 'ar' | null | undefined;
  theme?: Theme | undefined
};

export type MemoryEntries = {
  /** Latest first. */
  entries: MemoryEntry[];
  /** The value of `before` for the next page; null on the last page. */
  next: string | null
};

/** One translation of one segment, without codes. */
export type MemoryEntry = {
  memory_id: string;
  source_language: string;
  target_language: string;
  /** null: for all brands. */
  brand: string | null;
  source: string;
  target: string;
  origin: 'import' | 'job';
  /** 0: not used; 1: imported; 2: delivered; 3: reviewed; 4: accepted. */
  weight: number;
  /** The tone of its job or brand. Jobs of another tone do not use the entry as a draft. */
  tone: string | null;
  /** ISO 8601, in UTC. */
  created_at: string;
  /** ISO 8601, in UTC. */
  changed_at: string;
  withdrawn: {
    /** ISO 8601, in UTC. */
    at: string;
    by: string;
    reason: string | null
  } | null
};

export type MemoryEntryTouched = {
  entry: MemoryEntry;
  /** Latest first, at most 1,000. */
  touched: ({
    job_id: string;
    uid: string;
    environment: 'production' | 'sandbox';
    status: string;
    /** The number of the segment in its job, from 0. */
    position: number;
    /** `taught`: the entry was made from the segment. `applied`: it was used as the draft. `taken`: an editor confirmed it unchanged. */
    how: 'taught' | 'applied' | 'taken';
    outcome: string | null;
    /** Only for operators. */
    editor_id?: string | null | undefined;
    /** ISO 8601, in UTC. */
    created_at: string
  })[]
};

export type MemoryImported = {
  /** The number of units in the file. */
  read: number;
  /** The number of different entries that were imported, or would be in a dry run. */
  written: number;
  /** The number of units without the language pair. */
  skipped: number
};

export type MemorySummary = {
  memory: ({
    source_language: string;
    target_language: string;
    brand: string | null;
    entries: number;
    /** The number of these entries that are withdrawn or not used. */
    withdrawn: number;
    /** ISO 8601, in UTC. */
    changed_at: string
  })[]
};

export type MessageFormat = 'html' | 'text';

/** `mt_init`: translation is pending. `deliver_init`: translated, the delivery is pending. `deliver_complete`: translated, and delivered or without a callback URL. `mt_failed`: could not be translated. `deliver_failed`: translated, but the receiver never accepted the callback. */
export type MessageStatus = 'mt_init' | 'deliver_init' | 'deliver_complete' | 'mt_failed' | 'deliver_failed';

export type MovedMoney = {
  kind: 'top_up' | 'adjustment' | 'refund';
  environment: 'production' | 'sandbox';
  /** The amount; negative to take it off the balance. */
  cents: number;
  /** US cents. */
  before: number;
  /** US cents. */
  after: number;
  dry_run: boolean
};

export type NewDocument = {
  environment?: 'production' | 'sandbox' | undefined;
  tier: 'human' | 'machine';
  /** The name of the file. */
  name?: string | undefined;
  /** The text to translate, in the format of `text_format`. At most 10 MiB of UTF-8. */
  text: string;
  /** A language code; detected when absent. */
  source_language?: string | undefined;
  /** A language code. */
  target_language: string;
  /** The format of `text`; plain text when absent. */
  text_format?: 'text' | 'html' | 'srt' | 'xliff' | undefined;
  /** The external identifier of a brand of the account. */
  brand?: string | undefined;
  tone?: 'Informal' | 'Formal' | undefined;
  /** Instructions for the editor, and for engines that support them. */
  instructions?: string | undefined;
  /** XLIFF only: whether segments whose target has the state `translated` are translated again. */
  retranslate?: boolean | undefined;
  /** HTML only: whether the `lang` of the page becomes the target language where it was the source language. */
  set_lang?: boolean | undefined;
  /** Whether the user gets a mail when the job is finished; not in the sandbox. */
  mail?: boolean | undefined;
  /** The user who sends the document. Error `conflict`: another user is signed in. */
  user_id?: string | undefined;
  /** The price of the quote in US cents. Error `price_changed`: the job has another price. */
  price?: number | undefined
};

/** How long the previous key or secret stays valid. */
export type Overlap = 'now' | '1h' | '24h';

export type OverlapRequest = {
  overlap: Overlap
};

export type OwnAccount = {
  username: string;
  email: string | null;
  /** Whether the account has a chat subscription. */
  chat: boolean;
  balances: ({
    environment: 'production' | 'sandbox';
    /** US cents. */
    balance: number;
    /** Null: no limit. */
    credit_limit: number | null;
    /** What unfinished jobs hold, in US cents. */
    on_hold: number
  })[];
  /** The number of jobs by status. */
  jobs: ({
    environment: 'production' | 'sandbox';
    tier: 'human' | 'machine';
    status: string;
    jobs: number
  })[];
  last_30_days: ({
    environment: 'production' | 'sandbox';
    tier: 'human' | 'machine';
    jobs: number;
    words: number;
    /** US cents. */
    cents: number
  })[];
  /** The last 30 days in UTC, earliest first. */
  days: {
    production: OwnDay[];
    sandbox: OwnDay[]
  };
  /** The number of deliveries that failed in the last 30 days, counted up to 1,000. */
  failed_deliveries: {
    production: number;
    sandbox: number
  };
  /** The number of webhook endpoints that were disabled because their deliveries failed. */
  failed_endpoints: {
    production: number;
    sandbox: number
  };
  /** Null if the sandbox has no limit. */
  sandbox_words: SandboxWords | null;
  latest_jobs: {
    production: OwnJob[];
    sandbox: OwnJob[]
  }
};

export type OwnBrand = {
  external_id: string;
  name: string;
  /** Whether requests without a brand use this brand. */
  default: boolean;
  /** ISO 8601, in UTC. */
  changed_at: string;
  /** How many times the brand was published. */
  version: number;
  languages: ({
    language: string;
    tone: string | null;
    /** Whether the brand has instructions for this language. */
    instructions: boolean;
    terms: number
  })[];
  /** How many terms editors have proposed that wait for a decision. */
  proposals: number
};

export type OwnBrandDetail = {
  external_id: string;
  name: string;
  default: boolean;
  version: number;
  /** Regular expressions in the syntax of RE2. What they match in a text is not translated. */
  protect: string[];
  languages: OwnBrandLanguage[]
};

export type OwnBrandLanguage = {
  language: string;
  tone: string | null;
  instructions: string | null;
  terms: OwnTerm[]
};

/** The jobs of a day and their price. */
export type OwnDay = {
  day: string;
  jobs: number;
  /** US cents. */
  cents: number
};

export type OwnDeliveryDetail = {
  /** The id of the delivery, sent as `webhook-id`. */
  id: string;
  event: EventType;
  status: DeliveryStatus;
  /** The URL to which the delivery is posted. */
  url: string;
  /** The uid of the job that the event is about. */
  uid?: string | undefined;
  chat_id?: string | undefined;
  /** The message that the event is about. */
  message_id?: string | undefined;
  /** The webhook endpoint; absent for a callback. */
  endpoint_id?: string | undefined;
  failure?: DeliveryFailure | undefined;
  created_at: string;
  finished_at?: string | undefined;
  /** The earliest time of the next attempt. */
  next_attempt_at?: string | undefined;
  /** The HTTP status of the last attempt, if the receiver answered. */
  last_status_code?: number | undefined;
  last_outcome?: DeliveryOutcome | undefined;
  /** The last hundred attempts, oldest first. */
  attempts: DeliveryAttempt[];
  request: DeliveryRequest
};

export type OwnJob = {
  uid: string;
  order_number: number;
  /** The name of the document’s file; null if the job has none. */
  name: string | null;
  environment: 'production' | 'sandbox';
  tier: 'human' | 'machine';
  status: 'new' | 'machine_translate_in_progress' | 'translating' | 'completed' | 'failed' | 'canceled' | 'accepted' | 'rejected';
  source_language: string;
  target_language: string;
  text_format: string;
  brand: string | null;
  /** US cents. */
  price: number;
  /** ISO 8601, in UTC. */
  created_at: string
};

export type OwnJobDetail = {
  uid: string;
  order_number: number;
  /** The name of the document’s file; null if the job has none. */
  name: string | null;
  environment: 'production' | 'sandbox';
  tier: 'human' | 'machine';
  status: 'new' | 'machine_translate_in_progress' | 'translating' | 'completed' | 'failed' | 'canceled' | 'accepted' | 'rejected';
  source_language: string;
  target_language: string;
  text_format: string;
  brand: string | null;
  /** US cents. */
  price: number;
  /** ISO 8601, in UTC. */
  created_at: string;
  words: number;
  /** The sentences that keep their source text in the result. */
  untranslated: number;
  discounts: Discount[];
  finished_at: string | null;
  tone: string | null;
  topics: string[];
  callback_url: string | null;
  failure: string | null;
  /** Null when nobody works on the job, or its progress is unknown. */
  progress: JobProgress | null;
  /** Null if no editor worked on the job, or it failed or was canceled, and in each entry but the charge of a job. */
  edited_words: EditedWords | null;
  source: OwnJobText;
  result: OwnJobText | null;
  /** For an upgraded job without a result: the machine’s result, which is its draft. */
  machine_result: OwnJobText | null;
  instructions: string | null;
  /** Status changes, oldest first. */
  timeline: OwnJobStep[];
  deliveries: Delivery[];
  /** The actions that the job’s status allows. */
  may: {
    cancel: boolean;
    accept: boolean;
    reject: boolean
  }
};

export type OwnJobStep = {
  /** ISO 8601, in UTC. */
  at: string;
  /** The new status. */
  status: string;
  actor: 'machine' | 'editor' | 'customer' | 'operator';
  /** The reason. */
  detail?: string | undefined
};

export type OwnJobText = {
  text: string;
  /** Whether the text is longer than shown. */
  cut: boolean
};

export type OwnJobs = {
  objects: OwnJob[];
  /** The value of `after` for the next page; null on the last page. */
  next: string | null;
  /** The number of matches; at most ten thousand with filters by parts of a uid or by time. */
  total: number
};

export type OwnKey = {
  /** The public part of the key. */
  key_id: string;
  environment: 'production' | 'sandbox';
  name: string;
  dialect: 'spec' | 'legacy';
  read_only: boolean;
  /** The parts of the API that the key may use; null for every part. */
  scopes: KeyScope[] | null;
  /** The most that the key may order in a day (UTC), in cents; null for no limit. */
  daily_cents: number | null;
  /** What the key ordered today, in cents. It is counted only for a key with a limit. */
  ordered_cents: number;
  /** ISO 8601, in UTC. */
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  /** When the key was or will be revoked. */
  revoked_at: string | null;
  /** Whether the key is active now. */
  live: boolean;
  /** The e-mail address of the user who created the key; null if the operator created it. */
  made_by: string | null
};

export type OwnMadeKey = {
  key_id: string;
  environment: 'production' | 'sandbox';
  name: string;
  /** The key in the form `user:key`. Only this answer contains it. */
  key: string
};

/** The origins whose pages may call the API of the account from a browser. */
export type OwnOrigins = {
  origins: string[]
};

/** A term that an editor proposes for the glossary of a brand. */
export type OwnProposal = {
  proposal: string;
  language: string;
  source: string;
  target: string;
  note?: string | undefined;
  /** ISO 8601, in UTC. */
  proposed_at: string
};

export type OwnProposals = {
  /** The oldest 200, oldest first. */
  objects: OwnProposal[]
};

export type OwnRolledKey = {
  key_id: string;
  environment: 'production' | 'sandbox';
  name: string;
  /** The key in the form `user:key`. Only this answer contains it. */
  key: string;
  /** ISO 8601, in UTC. */
  previous_ends: string
};

export type OwnRolledSecret = {
  environment: 'production' | 'sandbox';
  /** The new secret. Only this answer contains it. */
  webhook_secret: string;
  /** The moment until which the previous secrets sign. */
  previous_ends: string
};

export type OwnTerm = {
  source: string;
  target?: string | undefined;
  case_sensitive?: boolean | undefined;
  forbidden?: boolean | undefined;
  do_not_translate?: boolean | undefined;
  note?: string | undefined
};

export type OwnVote = {
  vote: string;
  /** The job in which the text was confirmed. */
  uid: string;
  source_language: string;
  target_language: string;
  /** The text without codes. */
  source: string;
  /** The text without codes. */
  target: string;
  /** ISO 8601, in UTC. */
  voted_at: string;
  withdrawn_at: string | null;
  /** The number of segments that hold the text because of it. */
  segments: number
};

export type OwnVotes = {
  /** Latest first. */
  votes: OwnVote[]
};

/** An active webhook secret, without its value. */
export type OwnWebhookSecret = {
  secret_id: string;
  environment: 'production' | 'sandbox';
  /** ISO 8601, in UTC. */
  created_at: string;
  /** When the secret expires; null until it is rolled. */
  expires_at: string | null
};

export type PasswordChange = {
  current_password: string;
  /** The new password, 10 to 200 characters. */
  password: string
};

export type PasswordResetReceived = {
  status: 'received'
};

export type PasswordResetRequest = {
  email: string
};

export type PersonRole = 'customer' | 'editor' | 'operator';

/** A part of a segment: text, the opening or closing code of a pair, a single code, or a word that stays untranslated. */
export type Piece = {
  text: string
} | {
  open: number
} | {
  close: number
} | {
  single: number
} | {
  keep: number;
  text: string
};

export type Preview = {
  format: 'text' | 'html' | 'srt' | 'xliff';
  /** The document with the current targets. It is untrusted: show it in a sandboxed frame. */
  text: string;
  /** HTML only. The segment at a position stands between the comments `<!--MARK POSITION-->` and `<!--/MARK POSITION-->`. The mark is random, so that a document cannot contain such comments. Segments in attributes have no comments. */
  mark?: string | undefined
};

export type PublishedBrand = {
  name: string;
  default: boolean;
  /** The result of a human job that no editor finished before its deadline. */
  fallback: 'wait' | 'machine';
  /** What a confirmed text does to waiting segments with the same source: nothing, a draft, or also a confirmation once editors agree. */
  votes: 'off' | 'draft' | 'confirm';
  /** Regular expressions in the syntax of RE2. What they match in a text is not translated. */
  protect: string[];
  languages: ConsoleBrandLanguage[];
  version: number
};

/** A question of an editor to the customer about a segment. */
export type Query = {
  query: string;
  /** The number of the segment in its job, from 0. */
  position: number;
  question: string;
  /** `open`: waits for the answer. `withdrawn`: by an editor. `closed`: the job was delivered or canceled before. */
  status: 'open' | 'answered' | 'withdrawn' | 'closed';
  answer?: string | undefined;
  /** ISO 8601, in UTC. */
  asked_at: string;
  ended_at: string | null;
  /** The name of the editor who asked. */
  by: string
};

export type QueryAnswer = {
  answer: string
};

export type Queue = {
  /** In the order in which to claim them; the number for each customer is limited. */
  open: QueueTask[];
  /** The number of tasks that this editor may claim, counted up to 1,000. */
  waiting: number;
  held: HeldTask[];
  /** No claims until then, because too many claims of this editor expired. */
  paused_until: string | null
};

export type QueueTask = {
  task: string;
  kind: TaskKind;
  status: TaskStatus;
  /** Whether a reviewer or the customer returned it. */
  returned: boolean;
  /** The name that the customer gave the job. */
  uid: string;
  order_number: number;
  format: 'text' | 'html' | 'srt' | 'xliff';
  source_language: string;
  target_language: string;
  tone: string | null;
  topics: string[];
  /** The name of the brand. */
  brand: string | null;
  words: number;
  segments: number;
  /** The number of its confirmed segments. */
  confirmed: number;
  priority: number;
  /** `late`: the deadline has passed. `soon`: less than half of the time is left. */
  urgency: 'late' | 'soon' | 'normal';
  /** Whether the task is reserved for this editor for some hours. */
  reserved: boolean;
  /** The duration of a claim. */
  minutes: number;
  /** ISO 8601, in UTC. */
  created_at: string;
  /** ISO 8601, in UTC. */
  deadline: string;
  /** The first words of its source; empty after the text was deleted. */
  excerpt: string;
  /** The time for its words at the pace of the installation (`DRAGOMAN_TASK_PACE`). */
  expected_minutes: number;
  /** What the editor earns, in cents (`DRAGOMAN_EDIT_PAY`, `DRAGOMAN_REVIEW_PAY`). */
  pay?: number | undefined
};

export type QuotedDocument = {
  environment?: 'production' | 'sandbox' | undefined;
  tier: 'human' | 'machine';
  /** The name of the file. */
  name?: string | undefined;
  /** The text to translate, in the format of `text_format`. At most 10 MiB of UTF-8. */
  text: string;
  /** A language code; detected when absent. */
  source_language?: string | undefined;
  /** The format of `text`; plain text when absent. */
  text_format?: 'text' | 'html' | 'srt' | 'xliff' | undefined;
  /** The external identifier of a brand of the account. */
  brand?: string | undefined;
  tone?: 'Informal' | 'Formal' | undefined;
  /** Instructions for the editor, and for engines that support them. */
  instructions?: string | undefined;
  /** XLIFF only: whether segments whose target has the state `translated` are translated again. */
  retranslate?: boolean | undefined;
  /** HTML only: whether the `lang` of the page becomes the target language where it was the source language. */
  set_lang?: boolean | undefined;
  /** The user who sends the document. Error `conflict`: another user is signed in. */
  user_id?: string | undefined;
  target_languages: string[]
};

/** Each code works once. They cannot be shown again. */
export type RecoveryCodes = {
  recovery_codes: string[]
};

export type ReplayedDeliveries = {
  /** The number of deliveries that are pending again. */
  replayed: number;
  /** The number of dead deliveries that remain, capped at 10,000. */
  left: number
};

/** How long finished data is kept. */
export type Retention = {
  /** The period in days; null for no limit. */
  attempts: number | null;
  /** The period in days; null for no limit. */
  events: number | null;
  /** The period in days; null for no limit. */
  texts: number | null
};

export type SandboxAsking = {
  open: boolean
};

/** The credentials of a sandbox account. They cannot be shown again. */
export type SandboxCredentials = {
  username: string;
  /** The API key in the form `user:key`. */
  key: string;
  webhook_secret: string;
  /** The URL to which clients append the paths of the API. */
  base_url: string
};

export type SandboxGranted = {
  status: 'granted';
  link: string;
  /** ISO 8601, in UTC. */
  expires_at: string
};

/** The account of a link. */
export type SandboxLink = {
  name: string;
  username: string;
  /** ISO 8601, in UTC. */
  expires_at: string
};

export type SandboxReceived = {
  status: 'received'
};

export type SandboxRequest = {
  request_id: string;
  /** ISO 8601, in UTC. */
  created_at: string;
  name: string;
  email: string;
  company: string;
  use: string;
  status: 'open' | 'granted' | 'refused';
  decided_at: string | null;
  decided_by: string | null;
  account: string | null;
  /** The expiry of the link; null if there is no valid link. */
  link_until: string | null;
  /** When the key of the request was shown. */
  shown_at: string | null;
  mailed: 'sent' | 'failed' | null
};

export type SandboxRequests = {
  requests: SandboxRequest[];
  next: string | null
};

export type SandboxWish = {
  name: string;
  email: string;
  company?: string | undefined;
  /** What the account is for. */
  use?: string | undefined
};

/** The words used today (UTC) in the sandbox. */
export type SandboxWords = {
  used: number;
  limit: number;
  /** ISO 8601, in UTC. */
  resets_at: string
};

/** A save also extends the lease. */
export type SavedSegment = {
  segment: Segment;
  /** Repeats that received the same target. */
  filled: Segment[];
  /** Warnings; a target with errors is refused. */
  findings: Finding[];
  lease: Lease
};

export type SecondFactor = {
  /** Null without a second factor. */
  enabled_at: string | null;
  /** The number of unused recovery codes. */
  recovery_codes: number
};

export type SecondFactorBegin = {
  current_password?: string | undefined
};

export type SecondFactorCode = {
  /** A code of the authenticator app or a recovery code. */
  code: string
};

export type SecondFactorSecret = {
  /** In base32, to type into an authenticator app. */
  secret: string;
  /** The `otpauth:` URI, for a QR code. */
  uri: string
};

export type SeenSegments = {
  /** The segments that are recorded as seen. */
  positions: number[]
};

export type Segment = {
  /** The number of the segment in its job, from 0. */
  position: number;
  /** The unit of the document; its segments form one paragraph. */
  unit: number;
  source: SegmentPiece[];
  /** The latest target that an editor saved. */
  target: SegmentPiece[] | null;
  /** The translation that the editor started from. */
  draft: SegmentPiece[] | null;
  /** The origin of the draft. */
  origin: 'machine' | 'memory' | 'supplied' | 'kept' | 'none';
  /** The source of the draft, such as `apertium:eng-spa`. */
  route: string | null;
  /** Why the draft is a copy of the source: the document declares another language, the text is in another script, or it is mostly symbols. Such words are not counted. */
  kept?: 'language' | 'script' | 'symbols' | undefined;
  /** How probable the engine found the words of its draft: the mean and the lowest probability. Only for a draft of an engine that reports it. */
  confidence?: {
    mean: number;
    minimum: number
  } | undefined;
  status: SegmentStatus;
  /** The revision of the target; a save sends the revision that it changes. */
  revision: number;
  /** Whether the segment belongs to this task; other segments are read-only context. */
  mine: boolean;
  /** What the segment is in its document, where that is not running text. `attribute`: the value of an attribute, such as an alternative text. */
  element?: 'heading' | 'list_item' | 'table_cell' | 'link' | 'button' | 'attribute' | undefined;
  /** The notes of the document for translators. */
  notes: string[];
  /** What was changed in the draft, or may be wrong in it. */
  draft_notes: ({
    code: 'code_removed' | 'code_restored' | 'code_moved' | 'sentences_differ' | 'term_missing' | 'term_forbidden' | 'term_not_inflected';
    /** The term of the glossary, for codes that begin with `term_`. */
    term?: string | undefined
  })[];
  /** Why the segment has no draft. */
  failure?: string | undefined;
  /** The maximum length of the target in characters, if the document sets one. */
  max_length?: number | undefined;
  /** The time of a subtitle, in milliseconds. */
  time?: {
    from: number;
    to: number;
    /** The number of cues that the sentence spans, if more than one. */
    cues?: number | undefined
  } | undefined;
  /** Where a subtitle begins a new line: the offsets of the spaces in the text of `source`, in UTF-16 code units; codes have no width, except for the text of `keep`. */
  breaks?: number[] | undefined;
  /** The markup behind each code, by `open1`, `close1`, `single2`, `keep3`. Show it as text, never as HTML. */
  codes: Record<string, string>;
  /** The position of the first segment of the job with the same text. */
  repeats?: number | undefined;
  /** The last of the segments that an editor has joined with this one. They are not listed. */
  joined_to?: number | undefined;
  /** Whether the target was copied from a confirmed repeat and not edited since. */
  filled: boolean;
  vote?: SegmentVote | undefined;
  /** Whether this user saved the current target, and it differs from the draft. */
  changed: boolean;
  /** Warnings that the editor acknowledged, each as `keyOf` of `@dragoman/checks` returns it. */
  acknowledged: string[];
  /** Whether an open query to the customer holds the segment, so that it cannot be confirmed. */
  asked: boolean;
  /** Whether an editor marked the segment as unsure. */
  unsure: boolean;
  comments: number;
  issues: Issue[];
  /** Only in a review: whether this reviewer has seen the current target. `changed`: they saw an earlier one. */
  seen?: 'unseen' | 'changed' | 'seen' | undefined;
  /** The target that this reviewer saw last, if it has changed since. */
  last_seen?: Piece[] | undefined
};

/** A `Piece`, or a place where an editor has split the segment. Cuts are numbered from 1 in the order of the source. */
export type SegmentPiece = {
  text: string
} | {
  open: number
} | {
  close: number
} | {
  single: number
} | {
  keep: number;
  text: string
} | {
  cut: number
};

export type SegmentStatus = 'open' | 'draft' | 'confirmed';

/** The text that editors confirmed for the same source in other jobs. */
export type SegmentVote = {
  vote: string;
  /** `filled`: the segment holds the text. `next`: it gets the text when its task returns to the queue, unless the holder edits it; the workbench shows the text already. `offered`: it keeps its draft. */
  state: 'filled' | 'next' | 'offered';
  /** The draft that the text replaced; only with `filled`. */
  former?: Piece[] | null | undefined;
  target: Piece[];
  /** The number of editors who confirmed this text. */
  agree: number;
  /** The names of these editors. */
  by: string[];
  /** True if the customer made the text the rule. */
  rule: boolean
};

export type SentDocument = {
  job: OwnJob;
  /** Whether an earlier request with the same document created the job. Nothing was charged. */
  repeated: boolean
};

export type SentLink = {
  /** Valid once, and shown only in this answer. Null if it was mailed to the user. Customers never get it if a mail server is configured. */
  link: string | null;
  /** ISO 8601, in UTC. */
  expires_at: string;
  /** Whether the mail was sent; null if no mail server is configured. */
  mailed: boolean | null
};

export type Session = {
  session_id: string;
  /** Whether this request uses this session. */
  current: boolean;
  /** The names of the browser and the operating system; empty if unknown. */
  user_agent: string;
  /** ISO 8601, in UTC. */
  created_at: string;
  /** ISO 8601, in UTC. */
  last_seen_at: string;
  /** ISO 8601, in UTC. */
  ends_at: string
};

export type SignIn = {
  email: string;
  password: string;
  /** A code of the authenticator app or a recovery code. */
  code?: string | undefined
};

export type SignInOptions = {
  /** Whether users who forgot their password can request a link by e-mail. */
  reset_by_mail: boolean;
  /** Whether all users may sign in with a password. If not, only some operators may. */
  passwords: boolean;
  /** The name of the OpenID Connect provider; null without one. Sign-in starts at `/api/sign-in/provider`. */
  provider: string | null;
  /** Whether an operator has ever signed in. If not, the server waits for its first one. */
  has_operator: boolean
};

export type SwitchedPair = {
  source_language: string;
  target_language: string;
  enabled: boolean
};

export type TargetQuote = {
  target_language: string;
  quote: DocumentQuote | null;
  /** Why the document cannot be translated into this language; null with a quote. */
  refusal: DocumentRefusal | null
};

export type Task = {
  task: string;
  kind: TaskKind;
  status: TaskStatus;
  /** What the user may see. `record`: the segments that they edited before. `offer`: the segments of the task, before a claim. `held`: also the segments around it, glossary, comments, memory and preview. `all`: an operator, who sees every segment of the job. */
  access: 'record' | 'offer' | 'held' | 'all';
  words: number;
  /** Whether a reviewer or the customer returned it. */
  returned: boolean;
  /** The active time of this user on the task, in milliseconds, as far as saves reported it. */
  active_ms: number;
  job: {
    /** The name that the customer gave the job. */
    uid: string;
    order_number: number;
    format: 'text' | 'html' | 'srt' | 'xliff';
    source_language: string;
    target_language: string;
    tone: string | null;
    topics: string[];
    /** The name of the brand. */
    brand: string | null;
    instructions: ({
      from: 'brand' | 'job';
      text: string
    })[];
    words: number;
    /** Starts at 1 and increases with each rejection. */
    revision: number;
    /** ISO 8601, in UTC. */
    created_at: string;
    /** ISO 8601, in UTC. */
    deadline: string
  };
  lease?: Lease | undefined;
  segments: Segment[];
  terms: TaskTerm[];
  comments: Comment[];
  /** The queries to the customer, oldest first. */
  queries: Query[]
};

export type TaskKind = 'edit' | 'review';

/** A match of the translation memory. */
export type TaskMatch = {
  memory: string;
  /** The source of the memory entry. */
  source: Piece[];
  /** The target of the memory entry, with the codes of this segment. */
  target: Piece[];
  score: number;
  kind: 'context' | 'exact' | 'fuzzy';
  origin: string;
  /** The part of a split segment that it translates; without it, the whole segment. */
  part?: number | undefined;
  brand?: string | undefined;
  /** The tone of the job in which it was confirmed. */
  tone?: string | undefined;
  /** ISO 8601, in UTC. */
  created_at: string
};

export type TaskState = {
  task: string;
  status: TaskStatus
};

export type TaskStatus = 'open' | 'claimed' | 'submitted' | 'done' | 'reported' | 'canceled';

export type TaskTerm = {
  source: string;
  target: string;
  case_sensitive: boolean;
  forbidden: boolean;
  do_not_translate: boolean;
  note?: string | undefined;
  /** Set if the term is only proposed. It applies to this job. */
  proposal?: {
    proposal: string;
    /** The name of the editor who proposed the term. */
    by: string;
    may_withdraw: boolean
  } | undefined
};

export type Team = {
  objects: TeamMember[]
};

export type TeamMember = {
  user_id: string;
  email: string;
  name: string;
  status: 'active' | 'invited' | 'disabled';
  /** Whether this is the signed-in user. */
  me: boolean;
  /** Whether the user may decide on retention, export and erasure of the account. */
  owner: boolean;
  /** ISO 8601, in UTC. */
  created_at: string;
  last_seen_at: string | null;
  keys: CreatedKey[]
};

export type Theme = 'system' | 'light' | 'dark';

export type UndoneVote = {
  /** The number of segments that have their former draft again. */
  restored: number;
  /** The segments that keep the text, at most 1,000. */
  kept: ({
    uid: string;
    /** The number of the segment in its job, from 0. */
    position: number;
    /** `edited`: an editor has worked on the segment. `held`: its task is claimed, submitted or reviewed; it gets its former draft if the claim ends without an edit. `delivered`: its job is delivered. */
    why: 'edited' | 'held' | 'delivered'
  })[]
};

/** Whether a segment is marked as unsure. */
export type UnsureMark = {
  /** The number of the segment in its job, from 0. */
  position: number;
  unsure: boolean
};

export type Votes = {
  /** Latest first. */
  votes: ({
    vote: string;
    /** The job in which the text was confirmed. */
    uid: string;
    source_language: string;
    target_language: string;
    /** The text without codes. */
    source: string;
    /** The text without codes. */
    target: string;
    /** ISO 8601, in UTC. */
    voted_at: string;
    withdrawn_at: string | null;
    /** The number of segments that hold the text because of it. */
    segments: number;
    editor: string
  })[]
};

/** Every error of the web app’s routes. Errors are identified by their code. */
export type WebError = {
  /** Some codes have further fields. */
  error: {
    code: WebErrorCode;
    /** A sentence for people, in English. */
    message: string;
    /** A sentence for each invalid field of a form. */
    fields?: Record<string, unknown> | undefined;
    /** The reasons by code, for translation. Contains only fields whose reason has a code. */
    reasons?: Record<string, unknown> | undefined;
    /** Seconds until the next attempt is allowed. */
    retry_after?: number | undefined
  }
};

export type WebErrorCode = 'invalid_request' | 'unauthorized' | 'not_signed_in' | 'wrong_sign_in' | 'second_factor_required' | 'insufficient_balance' | 'invalid_subscription' | 'read_only_key' | 'insufficient_scope' | 'key_limit' | 'origin_not_allowed' | 'account_suspended' | 'chat_not_allowed' | 'owner_only' | 'second_factor_missing' | 'passwords_off' | 'cross_site' | 'not_found' | 'method_not_allowed' | 'request_timeout' | 'stale_lease' | 'conflict' | 'price_changed' | 'text_changed' | 'rule_changed' | 'unconfirmed' | 'query_open' | 'not_joinable' | 'not_splittable' | 'job_canceled' | 'nothing_waits' | 'task_taken' | 'too_many_claims' | 'claims_paused' | 'too_large' | 'checks_failed' | 'unsupported_type' | 'too_many_attempts' | 'too_many_streams' | 'rate_limited' | 'sandbox_quota' | 'headers_too_large' | 'server_error' | 'unavailable';

export type WebhookEndpoint = {
  id: string;
  environment: 'production' | 'sandbox';
  url: string;
  /** The types of events that the endpoint gets; null for all. */
  events: EndpointEventType[] | null;
  description: string;
  /** The public part of the API key that set the URL, which may be revoked by now; null if a user set it. */
  key_id: string | null;
  status: EndpointStatus;
  /** ISO 8601, in UTC. */
  created_at: string
};

export type WebhookEndpointChange = {
  /** A public http or https URL without credentials. */
  url?: string | undefined;
  /** The types of events that the endpoint gets; null for all, also those that later versions add. */
  events?: EndpointEventType[] | null | undefined;
  /** A text of one line for people. */
  description?: string | undefined;
  /** `active` also enables a `failed` endpoint. */
  status?: 'active' | 'disabled' | undefined
};

export type WebhookEndpointList = {
  objects: WebhookEndpoint[]
};

export type Work = {
  /** Segments confirmed in the last 30 days, latest day first. */
  days: ({
    day: string;
    segments: number;
    words: number;
    active_ms: number;
    /** Edit distance to the drafts, in characters. */
    distance: number
  })[];
  /** Errors that reviewers marked in this editor’s work in the last 30 days. */
  issues: ({
    category: 'accuracy' | 'terminology' | 'linguistic_conventions' | 'style' | 'locale_conventions' | 'audience_appropriateness' | 'design_and_markup';
    severity: 'neutral' | 'minor' | 'major' | 'critical';
    count: number
  })[];
  /** The last 100 claims that ended, latest first. */
  tasks: WorkEntry[]
};

export type WorkEntry = {
  task: string;
  kind: TaskKind;
  order_number: number;
  source_language: string;
  target_language: string;
  words: number;
  ended: 'submitted' | 'returned' | 'released' | 'lease_expired' | 'limit_expired' | 'skipped' | 'reported' | 'canceled' | 'reassigned';
  /** ISO 8601, in UTC. */
  claimed_at: string;
  /** ISO 8601, in UTC. */
  ended_at: string
};

/** What an operation is sent and answers. */
export interface Operations {
  /** Read whether sandbox requests are accepted */
  readSandboxAsking: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: SandboxAsking
  };
  /** Request a sandbox account */
  requestSandbox: {
    path: undefined;
    query: undefined;
    body: SandboxWish;
    answer: SandboxGranted | SandboxReceived
  };
  /** Read a link */
  readSandboxLink: {
    path: {
      token: string
    };
    query: undefined;
    body: undefined;
    answer: SandboxLink
  };
  /** Create and show the key of a link */
  openSandboxLink: {
    path: {
      token: string
    };
    query: undefined;
    body: undefined;
    answer: SandboxCredentials
  };
  /** Read the signed-in user */
  whoAmI: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Me
  };
  /** Sign in */
  signIn: {
    path: undefined;
    query: undefined;
    body: SignIn;
    answer: Me
  };
  /** Sign out */
  signOut: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: undefined
  };
  /** Read an invitation or reset link */
  readInvitation: {
    path: {
      token: string
    };
    query: undefined;
    body: undefined;
    answer: Invitation
  };
  /** Set a password with a link and sign in */
  acceptInvitation: {
    path: {
      token: string
    };
    query: undefined;
    body: InvitationAnswer;
    answer: Me
  };
  /** Read how users can sign in */
  readSignInOptions: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: SignInOptions
  };
  /** Request a link for a forgotten password */
  requestPasswordReset: {
    path: undefined;
    query: undefined;
    body: PasswordResetRequest;
    answer: PasswordResetReceived
  };
  /** List your sessions */
  listSessions: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: {
      objects: Session[]
    }
  };
  /** End all your other sessions */
  endOtherSessions: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: undefined
  };
  /** End one session */
  endSession: {
    path: {
      session_id: string
    };
    query: undefined;
    body: undefined;
    answer: undefined
  };
  /** Read the signed-in user */
  readMe: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Me
  };
  /** Change your name, language or theme */
  changeMe: {
    path: undefined;
    query: undefined;
    body: MeChanges;
    answer: Me
  };
  /** Change your password */
  changePassword: {
    path: undefined;
    query: undefined;
    body: PasswordChange;
    answer: undefined
  };
  /** Read your second factor */
  readSecondFactor: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: SecondFactor
  };
  /** Create the secret of a second factor */
  beginSecondFactor: {
    path: undefined;
    query: undefined;
    body: SecondFactorBegin;
    answer: SecondFactorSecret
  };
  /** Turn the second factor on with the first code of the app */
  confirmSecondFactor: {
    path: undefined;
    query: undefined;
    body: SecondFactorCode;
    answer: RecoveryCodes
  };
  /** Replace your recovery codes */
  renewRecoveryCodes: {
    path: undefined;
    query: undefined;
    body: SecondFactorCode;
    answer: RecoveryCodes
  };
  /** Turn the second factor off */
  disableSecondFactor: {
    path: undefined;
    query: undefined;
    body: SecondFactorCode;
    answer: SecondFactor
  };
  /** List the tasks that this editor may claim or holds */
  readQueue: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Queue
  };
  /** Read statistics of this editor’s work */
  readWork: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Work
  };
  /** Claim the next task or a given task */
  claimTask: {
    path: undefined;
    query: undefined;
    body: {
      task?: string | undefined
    };
    answer: Claimed
  };
  /** Save a segment as a draft or confirm it */
  saveSegment: {
    path: {
      task: string;
      /** The number of the segment in its job, from 0. */
      position: number
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string;
      revision: number;
      target: SegmentPiece[];
      status: 'draft' | 'confirmed';
      acknowledged?: string[] | undefined;
      /** Milliseconds of work on this segment since its last save. */
      active_ms?: number | undefined
    };
    answer: SavedSegment
  };
  /** Mark a segment as unsure, or remove the mark */
  markUnsure: {
    path: {
      task: string;
      /** The number of the segment in its job, from 0. */
      position: number
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string;
      unsure: boolean
    };
    answer: UnsureMark
  };
  /** Join a segment with the next one */
  joinSegments: {
    path: {
      task: string;
      /** The number of the segment in its job, from 0. */
      position: number
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string;
      revision: number;
      /** The revision of the next segment. */
      next_revision: number
    };
    answer: ChangedSegments
  };
  /** Separate joined segments */
  separateSegments: {
    path: {
      task: string;
      /** The number of the segment in its job, from 0. */
      position: number
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string;
      revision: number
    };
    answer: ChangedSegments
  };
  /** Split a segment */
  splitSegment: {
    path: {
      task: string;
      /** The number of the segment in its job, from 0. */
      position: number
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string;
      revision: number;
      /** The offset of the first character of the second part in the text of `source`, in UTF-16 code units; codes have no width, except for the text of `keep`. */
      at: number
    };
    answer: ChangedSegments
  };
  /** Put the parts of a split segment together */
  unsplitSegment: {
    path: {
      task: string;
      /** The number of the segment in its job, from 0. */
      position: number
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string;
      revision: number
    };
    answer: ChangedSegments
  };
  /** List the memory matches and glossary terms of a segment */
  listMatches: {
    path: {
      task: string;
      /** The number of the segment in its job, from 0. */
      position: number
    };
    query: undefined;
    body: undefined;
    answer: Matches
  };
  /** List the earlier targets of a segment */
  readHistory: {
    path: {
      task: string;
      /** The number of the segment in its job, from 0. */
      position: number
    };
    query: undefined;
    body: undefined;
    answer: History
  };
  /** Propose a term for the glossary of the brand */
  proposeTerm: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string;
      source: string;
      target: string;
      note?: string | undefined
    };
    answer: TaskTerm
  };
  /** Withdraw a term that this editor proposed */
  withdrawTerm: {
    path: {
      task: string;
      proposal: string
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string
    };
    answer: TaskState
  };
  /** Ask the customer about a segment */
  askCustomer: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string;
      /** The number of the segment in its job, from 0. */
      position: number;
      question: string
    };
    answer: Query
  };
  /** Withdraw an open query to the customer */
  withdrawQuery: {
    path: {
      task: string;
      query: string
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string
    };
    answer: TaskState
  };
  /** Read a task with everything that the workbench shows */
  readTask: {
    path: {
      task: string
    };
    query: undefined;
    body: undefined;
    answer: Task
  };
  /** Search the translation memory for words */
  searchMemory: {
    path: {
      task: string
    };
    query: {
      q: string
    };
    body: undefined;
    answer: Concordance
  };
  /** Preview the document with the current targets */
  previewTask: {
    path: {
      task: string
    };
    query: undefined;
    body: undefined;
    answer: Preview
  };
  /** Extend the lease of a claim */
  heartbeat: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string
    };
    answer: Lease
  };
  /** Extend the time of a claim by half, once */
  extendTask: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string
    };
    answer: Lease
  };
  /** Release a task; its edits are kept */
  releaseTask: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string
    };
    answer: TaskState
  };
  /** Submit a task */
  submitTask: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string
    };
    answer: TaskState
  };
  /** Skip a task for good */
  skipTask: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease token. */
      token?: string | undefined;
      reason: 'too_hard' | 'not_my_topic' | 'no_time' | 'other'
    };
    answer: TaskState
  };
  /** Report a task to the operators */
  reportTask: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease token. */
      token?: string | undefined;
      reason: 'bad_source' | 'wrong_language' | 'mixed_languages' | 'offensive' | 'unclear_instructions' | 'other';
      note?: string | undefined
    };
    answer: TaskState
  };
  /** Approve the job for delivery */
  approveTask: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string
    };
    answer: TaskState
  };
  /** Return the job to its editors */
  returnTask: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string;
      note?: string | undefined
    };
    answer: TaskState
  };
  /** Record the segments that the reviewer has seen */
  markSeen: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string;
      segments: ({
        /** The number of the segment in its job, from 0. */
        position: number;
        revision: number
      })[]
    };
    answer: SeenSegments
  };
  /** Mark an error in a segment */
  markIssue: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string;
      /** The number of the segment in its job, from 0. */
      position: number;
      category: 'accuracy' | 'terminology' | 'linguistic_conventions' | 'style' | 'locale_conventions' | 'audience_appropriateness' | 'design_and_markup';
      severity: 'neutral' | 'minor' | 'major' | 'critical';
      note?: string | undefined;
      range?: {
        start: number;
        end: number
      } | undefined
    };
    answer: Issue
  };
  /** Remove a marked error */
  unmarkIssue: {
    path: {
      task: string;
      issue: string
    };
    query: undefined;
    body: {
      /** The lease token. */
      token: string
    };
    answer: TaskState
  };
  /** Comment on the job or one of its segments */
  addComment: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      text: string;
      /** The number of the segment in its job, from 0. */
      position?: number | undefined
    };
    answer: Comment
  };
  /** List the tasks of all accounts */
  listTasks: {
    path: undefined;
    query: {
      status?: 'open' | 'claimed' | 'submitted' | 'done' | 'reported' | 'canceled' | undefined;
      kind?: 'edit' | 'review' | undefined;
      source_language?: string | undefined;
      target_language?: string | undefined;
      account?: string | undefined;
      job?: string | undefined;
      limit?: number | undefined;
      offset?: number | undefined
    };
    body: undefined;
    answer: ConsoleTasks
  };
  /** Sum the editing effort by job, draft source or editor */
  readEffort: {
    path: undefined;
    query: {
      by: 'job' | 'route' | 'editor';
      /** A date (its start in UTC), or a date and time with a time zone. */
      since?: string | undefined
    };
    body: undefined;
    answer: Effort
  };
  /** Return a task to the queue */
  releaseTaskOfAnother: {
    path: {
      task: string
    };
    query: undefined;
    body: undefined;
    answer: TaskState
  };
  /** Set the priority of a task */
  setPriority: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      priority: number
    };
    answer: TaskState
  };
  /** Reassign a task to an editor */
  reassignTask: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      user: string
    };
    answer: TaskState
  };
  /** List confirmed texts and where they were used */
  listAccountVotes: {
    path: {
      username: string
    };
    query: {
      /** Only votes whose text other segments hold. */
      filling?: boolean | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: Votes
  };
  /** Withdraw a vote and what it filled */
  undoAccountVote: {
    path: {
      username: string;
      vote: string
    };
    query: undefined;
    body: undefined;
    answer: UndoneVote
  };
  /** List sources for which editors confirmed different texts */
  listAccountDisagreements: {
    path: {
      username: string
    };
    query: {
      before?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: Disagreements
  };
  /** Make one of the texts the rule */
  makeAccountRule: {
    path: {
      username: string;
      disagreement: string
    };
    query: undefined;
    body: {
      vote: string;
      /** The `hash` of the text in the list. Error `text_changed`: the vote has another text now. */
      hash: string;
      /** The `hash` of the rule in the list; null if it shows none. Error `rule_changed`: the rule has changed. */
      rule: string | null
    };
    answer: MadeRule
  };
  /** End a rule */
  endAccountRule: {
    path: {
      username: string;
      disagreement: string
    };
    query: {
      /** The `hash` of the rule in the list. Error `rule_changed`: the rule has changed. */
      rule: string
    };
    body: undefined;
    answer: MadeRule
  };
  /** List confirmed texts and where they were used */
  listOwnVotes: {
    path: undefined;
    query: {
      /** Only votes whose text other segments hold. */
      filling?: boolean | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: OwnVotes
  };
  /** Withdraw a vote and what it filled */
  undoOwnVote: {
    path: {
      vote: string
    };
    query: undefined;
    body: undefined;
    answer: UndoneVote
  };
  /** List sources for which editors confirmed different texts */
  listOwnDisagreements: {
    path: undefined;
    query: {
      before?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: Disagreements
  };
  /** Make one of the texts the rule */
  makeOwnRule: {
    path: {
      disagreement: string
    };
    query: undefined;
    body: {
      vote: string;
      /** The `hash` of the text in the list. Error `text_changed`: the vote has another text now. */
      hash: string;
      /** The `hash` of the rule in the list; null if it shows none. Error `rule_changed`: the rule has changed. */
      rule: string | null
    };
    answer: MadeRule
  };
  /** End a rule */
  endOwnRule: {
    path: {
      disagreement: string
    };
    query: {
      /** The `hash` of the rule in the list. Error `rule_changed`: the rule has changed. */
      rule: string
    };
    body: undefined;
    answer: MadeRule
  };
  /** Subscribe to live updates */
  subscribe: {
    path: undefined;
    query: {
      /** One or more topics: `topic=jobs&topic=balance`; at most 12. */
      topic: string | string[]
    };
    body: undefined;
    answer: undefined
  };
  /** Read an overview of your account */
  readOwnAccount: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: OwnAccount
  };
  /** List your keys, including ended ones */
  listOwnKeys: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: {
      objects: OwnKey[]
    }
  };
  /** Create a key */
  makeOwnKey: {
    path: undefined;
    query: undefined;
    body: {
      name: string;
      environment: 'production' | 'sandbox';
      read_only?: boolean | undefined;
      scopes?: KeyScope[] | null | undefined;
      /** The most that the key may order in a day (UTC), in cents; null for no limit. */
      daily_cents?: number | null | undefined;
      expires_at?: string | null | undefined
    };
    answer: OwnMadeKey
  };
  /** Replace a key */
  rollOwnKey: {
    path: {
      key_id: string
    };
    query: undefined;
    body: OverlapRequest;
    answer: OwnRolledKey
  };
  /** Revoke a key */
  revokeOwnKey: {
    path: {
      key_id: string
    };
    query: undefined;
    body: undefined;
    answer: {
      objects: OwnKey[]
    }
  };
  /** List your webhook secrets */
  listOwnWebhookSecrets: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: {
      objects: OwnWebhookSecret[]
    }
  };
  /** Create a new webhook secret */
  rollOwnWebhookSecret: {
    path: {
      environment: 'production' | 'sandbox'
    };
    query: undefined;
    body: OverlapRequest;
    answer: OwnRolledSecret
  };
  /** List the origins of your web pages */
  listOwnOrigins: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: OwnOrigins
  };
  /** Replace the origins of your web pages */
  setOwnOrigins: {
    path: undefined;
    query: undefined;
    body: {
      origins: string[]
    };
    answer: OwnOrigins
  };
  /** List the users of your account */
  listTeam: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Team
  };
  /** Invite a user to your account */
  inviteToTeam: {
    path: undefined;
    query: undefined;
    body: {
      email: string;
      name?: string | undefined
    };
    answer: SentLink
  };
  /** Create a link for a user of your account */
  linkForTeam: {
    path: {
      user_id: string
    };
    query: undefined;
    body: undefined;
    answer: SentLink
  };
  /** Disable a user of your account */
  disableInTeam: {
    path: {
      user_id: string
    };
    query: undefined;
    body: DisableRequest;
    answer: Team
  };
  /** Enable a user of your account */
  enableInTeam: {
    path: {
      user_id: string
    };
    query: undefined;
    body: undefined;
    answer: Team
  };
  /** Make a user an owner of the account, or withdraw it */
  setOwnerInTeam: {
    path: {
      user_id: string
    };
    query: undefined;
    body: {
      owner: boolean
    };
    answer: Team
  };
  /** List your jobs, newest first */
  listOwnJobs: {
    path: undefined;
    query: {
      environment?: 'production' | 'sandbox' | undefined;
      tier?: 'human' | 'machine' | undefined;
      /** One of the statuses. */
      status?: string | undefined;
      /** A prefix of the uid. */
      uid__startswith?: string | undefined;
      /** A part of the uid. */
      uid__contains?: string | undefined;
      /** Shortname of a language. */
      source_language?: string | undefined;
      /** Shortname of a language. */
      target_language?: string | undefined;
      /** Date and time in ISO 8601. */
      created__gte?: string | undefined;
      /** Date and time in ISO 8601. */
      created__lt?: string | undefined;
      order_by?: 'created' | '-created' | undefined;
      /** `next` of the previous page. */
      after?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: OwnJobs
  };
  /** Read a job with its history */
  readOwnJob: {
    path: {
      /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
      uid: string
    };
    query: {
      environment?: 'production' | 'sandbox' | undefined
    };
    body: undefined;
    answer: OwnJobDetail
  };
  /** Cancel an unfinished job */
  cancelOwnJob: {
    path: {
      /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
      uid: string
    };
    query: {
      environment?: 'production' | 'sandbox' | undefined
    };
    body: undefined;
    answer: OwnJobDetail
  };
  /** Read the languages and formats of documents */
  readDocumentOptions: {
    path: undefined;
    query: {
      environment?: 'production' | 'sandbox' | undefined
    };
    body: undefined;
    answer: DocumentOptions
  };
  /** Check a document and calculate its prices */
  quoteDocument: {
    path: undefined;
    query: undefined;
    body: QuotedDocument;
    answer: DocumentQuotes
  };
  /** Translate a document */
  sendDocument: {
    path: undefined;
    query: undefined;
    body: NewDocument;
    answer: SentDocument
  };
  /** Download the result of a job as a file */
  downloadOwnResult: {
    path: {
      /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
      uid: string
    };
    query: {
      environment?: 'production' | 'sandbox' | undefined
    };
    body: undefined;
    answer: undefined
  };
  /** One’s chats, newest first */
  listOwnChats: {
    path: undefined;
    query: {
      environment?: 'production' | 'sandbox' | undefined;
      after?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: ListedChats
  };
  /** The messages of a chat in order */
  listOwnMessages: {
    path: {
      chat_id: string
    };
    query: {
      environment?: 'production' | 'sandbox' | undefined;
      /** The position of the first message to return, from 1. */
      index?: number | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: ChatMessageList
  };
  /** List your webhook endpoints */
  listOwnWebhookEndpoints: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: WebhookEndpointList
  };
  /** Register a webhook endpoint */
  createOwnWebhookEndpoint: {
    path: undefined;
    query: undefined;
    body: {
      environment: 'production' | 'sandbox';
      /** A public http or https URL without credentials. */
      url: string;
      /** The types of events that the endpoint gets; null for all, also those that later versions add. */
      events?: EndpointEventType[] | null | undefined;
      /** A text of one line for people. */
      description?: string | undefined
    };
    answer: CreatedWebhookEndpoint
  };
  /** Change, disable or enable a webhook endpoint */
  changeOwnWebhookEndpoint: {
    path: {
      endpoint_id: string
    };
    query: undefined;
    body: WebhookEndpointChange;
    answer: WebhookEndpoint
  };
  /** Delete a webhook endpoint */
  deleteOwnWebhookEndpoint: {
    path: {
      endpoint_id: string
    };
    query: undefined;
    body: undefined;
    answer: WebhookEndpointList
  };
  /** Create a new secret of an endpoint */
  rollOwnWebhookEndpointSecret: {
    path: {
      endpoint_id: string
    };
    query: undefined;
    body: OverlapRequest;
    answer: EndpointSecret
  };
  /** Send a signed test event to a URL */
  testCallbackUrl: {
    path: undefined;
    query: undefined;
    body: {
      environment?: 'production' | 'sandbox' | undefined;
      url: string
    };
    answer: Delivery
  };
  /** Own deliveries, newest first */
  listOwnDeliveries: {
    path: undefined;
    query: {
      environment?: 'production' | 'sandbox' | undefined;
      status?: 'pending' | 'delivered' | 'dead' | undefined;
      after?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: DeliveryList
  };
  /** Count dead deliveries */
  countFailedDeliveries: {
    path: undefined;
    query: {
      environment?: 'production' | 'sandbox' | undefined;
      /** A date (its start in UTC), or a date and time with a time zone. */
      since?: string | undefined
    };
    body: undefined;
    answer: FailedDeliveries
  };
  /** Replay all dead deliveries */
  replayFailedDeliveries: {
    path: undefined;
    query: undefined;
    body: {
      environment?: 'production' | 'sandbox' | undefined;
      /** A date (its start in UTC), or a date and time with a time zone. */
      since?: string | undefined;
      /** A date (its start in UTC), or a date and time with a time zone. */
      until?: string | undefined
    };
    answer: ReplayedDeliveries
  };
  /** A delivery with its request and its attempts */
  readOwnDelivery: {
    path: {
      delivery_id: string
    };
    query: undefined;
    body: undefined;
    answer: OwnDeliveryDetail
  };
  /** Send a delivery now */
  replayOwnDelivery: {
    path: {
      delivery_id: string
    };
    query: undefined;
    body: undefined;
    answer: Delivery
  };
  /** Changes of the own balance, one entry for each job */
  readOwnLedger: {
    path: undefined;
    query: {
      environment?: 'production' | 'sandbox' | undefined;
      /** The first day; by default 30 days before the end. */
      from?: string | undefined;
      /** The end, exclusive; now by default. */
      until?: string | undefined
    };
    body: undefined;
    answer: Ledger
  };
  /** The whole statement as CSV */
  downloadLedger: {
    path: undefined;
    query: {
      environment?: 'production' | 'sandbox' | undefined;
      /** The first day; by default 30 days before the end. */
      from?: string | undefined;
      /** The end, exclusive; now by default. */
      until?: string | undefined
    };
    body: undefined;
    answer: undefined
  };
  /** List your brands */
  listOwnBrands: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: {
      objects: OwnBrand[]
    }
  };
  /** Read a brand with its glossaries */
  readOwnBrand: {
    path: {
      brand: string
    };
    query: undefined;
    body: undefined;
    answer: OwnBrandDetail
  };
  /** List the terms that editors propose for a brand */
  listProposals: {
    path: {
      brand: string
    };
    query: undefined;
    body: undefined;
    answer: OwnProposals
  };
  /** Add a proposed term to the draft of the brand */
  takeProposal: {
    path: {
      proposal: string
    };
    query: undefined;
    body: undefined;
    answer: OwnProposals
  };
  /** Decline a proposed term */
  declineProposal: {
    path: {
      proposal: string
    };
    query: undefined;
    body: undefined;
    answer: OwnProposals
  };
  /** List the queries of editors */
  listOwnQueries: {
    path: undefined;
    query: {
      /** A job: lists its queries of every status but withdrawn. */
      uid?: string | undefined
    };
    body: undefined;
    answer: JobQueries
  };
  /** Answer a query of an editor */
  answerOwnQuery: {
    path: {
      query: string
    };
    query: undefined;
    body: QueryAnswer;
    answer: JobQueries
  };
  /** Read how long your data is kept */
  readRetention: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Retention
  };
  /** Set how long your data is kept */
  changeRetention: {
    path: undefined;
    query: undefined;
    body: {
      /** The period in days; null for no limit. */
      attempts: number | null;
      /** The period in days; null for no limit. */
      events: number | null;
      /** The period in days; null for no limit. */
      texts: number | null
    };
    answer: Retention
  };
  /** Export all data of your account as JSON lines */
  exportOwnAccount: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: undefined
  };
  /** Erase your account permanently */
  eraseOwnAccount: {
    path: undefined;
    query: undefined;
    body: {
      /** The user name of the account, as a confirmation. */
      username: string
    };
    answer: Erasing
  };
  /** Read what needs attention, and the state of the work */
  readHome: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: ConsoleHome
  };
  /** List the settings of this process, without secrets */
  listSettings: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: ConsoleSettings
  };
  /** List users */
  listPeople: {
    path: undefined;
    query: {
      role?: 'customer' | 'editor' | 'operator' | undefined;
      account?: string | undefined;
      /** A part of the e-mail address or name. */
      q?: string | undefined
    };
    body: undefined;
    answer: {
      people: ConsolePerson[]
    }
  };
  /** Invite a user */
  invitePerson: {
    path: undefined;
    query: undefined;
    body: {
      email: string;
      name?: string | undefined;
      role: PersonRole;
      account?: string | undefined;
      languages?: ({
        source_language: string;
        target_language: string;
        /** Whether the editor may also review this language pair. */
        review: boolean
      })[] | undefined;
      review_share?: number | undefined
    };
    answer: InvitedPerson
  };
  /** Change the languages and the review share of a user */
  changePerson: {
    path: {
      user_id: string
    };
    query: undefined;
    body: {
      languages?: ({
        source_language: string;
        target_language: string;
        /** Whether the editor may also review this language pair. */
        review: boolean
      })[] | undefined;
      review_share?: number | undefined
    };
    answer: ConsolePerson
  };
  /** Create a link for a user */
  linkForPerson: {
    path: {
      user_id: string
    };
    query: undefined;
    body: undefined;
    answer: SentLink
  };
  /** Remove the second factor of a user */
  resetSecondFactor: {
    path: {
      user_id: string
    };
    query: undefined;
    body: undefined;
    answer: ConsolePerson
  };
  /** Disable a user */
  disablePerson: {
    path: {
      user_id: string
    };
    query: undefined;
    body: DisableRequest;
    answer: ConsolePerson
  };
  /** Enable a user */
  enablePerson: {
    path: {
      user_id: string
    };
    query: undefined;
    body: undefined;
    answer: ConsolePerson
  };
  /** List sandbox requests, newest first */
  listSandboxRequests: {
    path: undefined;
    query: {
      status?: 'open' | 'granted' | 'refused' | undefined;
      after?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: SandboxRequests
  };
  /** Grant a request, or replace its link */
  grantSandbox: {
    path: {
      request_id: string
    };
    query: undefined;
    body: undefined;
    answer: GrantedSandbox
  };
  /** Refuse a request */
  refuseSandbox: {
    path: {
      request_id: string
    };
    query: undefined;
    body: undefined;
    answer: SandboxRequest
  };
  /** List audit entries, newest first */
  listAudit: {
    path: undefined;
    query: {
      account?: string | undefined;
      /** `key.made`, or `key` for all actions on keys. */
      action?: string | undefined;
      /** A part of the name. */
      name?: string | undefined;
      /** The complete subject, such as the uid of a job. */
      subject?: string | undefined;
      after?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: AuditEntries
  };
  /** List accounts by user name */
  listAccounts: {
    path: undefined;
    query: {
      /** A part of the user name or e-mail address. */
      q?: string | undefined;
      /** Only accounts with a negative balance. */
      overdrawn?: boolean | undefined;
      after?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: ListedAccounts
  };
  /** Create an account with a key and a secret for each environment */
  createAccount: {
    path: undefined;
    query: undefined;
    body: {
      username: string;
      email?: string | null | undefined;
      balance_cents?: number | undefined;
      dialect?: 'spec' | 'legacy' | undefined;
      chat?: boolean | undefined
    };
    answer: AccountCredentials
  };
  /** Read an account */
  readAccount: {
    path: {
      username: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleAccount
  };
  /** Change an account */
  changeAccount: {
    path: {
      username: string
    };
    query: undefined;
    body: {
      version: string;
      email?: string | null | undefined;
      default_brand?: string | null | undefined;
      chat?: {
        /** The language pairs of the subscription; null for every pair. */
        pairs?: string[] | null | undefined;
        from?: string | null | undefined;
        until?: string | null | undefined
      } | null | undefined;
      credit_limit?: number | null | undefined;
      sandbox_credit_limit?: number | null | undefined;
      key_requests?: number | null | undefined
    };
    answer: ConsoleAccount
  };
  /** Suspend an account */
  suspendAccount: {
    path: {
      username: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleAccount
  };
  /** Resume a suspended account */
  resumeAccount: {
    path: {
      username: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleAccount
  };
  /** Create a key for an account */
  makeAccountKey: {
    path: {
      username: string
    };
    query: undefined;
    body: {
      name: string;
      environment: 'production' | 'sandbox';
      dialect?: 'spec' | 'legacy' | undefined;
      read_only?: boolean | undefined;
      scopes?: KeyScope[] | null | undefined;
      /** The most that the key may order in a day (UTC), in cents; null for no limit. */
      daily_cents?: number | null | undefined
    };
    answer: ConsoleMadeKey
  };
  /** Revoke a key of an account */
  revokeAccountKey: {
    path: {
      username: string;
      key: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleAccount
  };
  /** Top up, adjust or refund */
  moveMoney: {
    path: {
      username: string
    };
    query: undefined;
    body: {
      kind: 'top_up' | 'adjustment' | 'refund';
      environment: 'production' | 'sandbox';
      /** Required except for a refund, which always returns the whole charge. */
      cents?: number | undefined;
      /** The job to refund. */
      uid?: string | undefined;
      /** The reason, shown on the customer’s statement. */
      memo: string;
      dry_run?: boolean | undefined
    };
    answer: MovedMoney
  };
  /** The transfers of a balance */
  readStatement: {
    path: {
      username: string
    };
    query: {
      environment?: 'production' | 'sandbox' | undefined;
      /** The first day; by default 30 days before the end. */
      from?: string | undefined;
      /** The end, exclusive; now by default. */
      until?: string | undefined
    };
    body: undefined;
    answer: ConsoleStatement
  };
  /** Prices per word */
  listPrices: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: ConsolePrices
  };
  /** Set a price per word from a moment on */
  setPrice: {
    path: undefined;
    query: undefined;
    body: {
      tier: 'human' | 'machine';
      account?: string | null | undefined;
      /** `*` in both fields means every language pair. */
      source_language: string;
      /** `*` in both fields means every language pair. */
      target_language: string;
      cents_per_word: number;
      from?: string | null | undefined;
      until?: string | null | undefined;
      dry_run?: boolean | undefined
    };
    answer: ConsoleSetPrice
  };
  /** End a price and delete the future prices of its scope */
  endPrice: {
    path: undefined;
    query: undefined;
    body: {
      tier: 'human' | 'machine';
      account?: string | null | undefined;
      /** `*` in both fields means every language pair. */
      source_language: string;
      /** `*` in both fields means every language pair. */
      target_language: string
    };
    answer: ConsolePrices
  };
  /** List the brands of an account, with drafts */
  listConsoleBrands: {
    path: {
      username: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleBrands
  };
  /** Create a brand as a draft */
  beginBrand: {
    path: {
      username: string
    };
    query: undefined;
    body: {
      external_id: string;
      name?: string | null | undefined;
      default?: boolean | undefined
    };
    answer: ConsoleBrand
  };
  /** Read a published brand and its draft */
  readConsoleBrand: {
    path: {
      username: string;
      brand: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleBrand
  };
  /** Remove a brand with its draft and glossaries */
  removeBrand: {
    path: {
      username: string;
      brand: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleBrands
  };
  /** Change or start a draft */
  changeBrandDraft: {
    path: {
      username: string;
      brand: string
    };
    query: undefined;
    body: {
      /** The revision of the draft to which the change applies; 0 if there is no draft. */
      revision: number;
      name?: string | undefined;
      default?: boolean | undefined;
      fallback?: 'wait' | 'machine' | undefined;
      votes?: 'off' | 'draft' | 'confirm' | undefined;
      /** Regular expressions in the syntax of RE2. What they match in a text is not translated. */
      protect?: string[] | undefined;
      /** Changes by language; null removes the language with its glossary. */
      languages?: Record<string, {
        tone?: 'Informal' | 'Formal' | null | undefined;
        instructions?: string | null | undefined
      } | null> | undefined
    };
    answer: ConsoleBrand
  };
  /** Discard a draft */
  discardBrandDraft: {
    path: {
      username: string;
      brand: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleBrands
  };
  /** Publish a draft */
  publishBrand: {
    path: {
      username: string;
      brand: string
    };
    query: undefined;
    body: {
      /** The revision of the draft to which the change applies; 0 if there is no draft. */
      revision: number;
      /** Whether to publish even if the brand was published in another way meanwhile. */
      anyway?: boolean | undefined
    };
    answer: ConsoleBrand
  };
  /** Show what patterns protect in a text */
  tryPatterns: {
    path: {
      username: string;
      brand: string
    };
    query: undefined;
    body: {
      /** Regular expressions in the syntax of RE2. What they match in a text is not translated. */
      protect: string[];
      text: string
    };
    answer: ConsoleProtected
  };
  /** List the glossary of a brand for a language */
  listConsoleTerms: {
    path: {
      username: string;
      brand: string
    };
    query: {
      language: string;
      q?: string | undefined;
      offset?: number | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: ConsoleTerms
  };
  /** Add, change and remove terms of a draft */
  editTerms: {
    path: {
      username: string;
      brand: string
    };
    query: undefined;
    body: {
      /** The revision of the draft to which the change applies; 0 if there is no draft. */
      revision: number;
      language: string;
      put?: ({
        source: string;
        target?: string | undefined;
        case_sensitive?: boolean | undefined;
        forbidden?: boolean | undefined;
        do_not_translate?: boolean | undefined;
        note?: string | undefined;
        was?: {
          source: string;
          target?: string | undefined
        } | null | undefined
      })[] | undefined;
      remove?: ({
        source: string;
        target?: string | undefined
      })[] | undefined
    };
    answer: ConsoleBrand
  };
  /** Import the terms of a file into a draft */
  importTerms: {
    path: {
      username: string;
      brand: string
    };
    query: undefined;
    body: {
      /** The revision of the draft to which the change applies; 0 if there is no draft. */
      revision: number;
      language: string;
      from?: string | null | undefined;
      /** The name of the file, for the error messages. */
      file?: string | undefined;
      /** The content of the file, CSV or TBX. */
      text: string;
      mode: 'replace' | 'merge';
      dry_run: boolean
    };
    answer: ConsoleImport
  };
  /** Preview the settings and terms of a brand for a text */
  previewBrand: {
    path: {
      username: string;
      brand: string
    };
    query: undefined;
    body: {
      language: string;
      source_language?: string | null | undefined;
      text: string;
      of?: 'draft' | 'published' | undefined
    };
    answer: ConsoleBrandPreview
  };
  /** List published and disabled language pairs */
  listConsolePairs: {
    path: undefined;
    query: {
      /** A language code or a part of an English language name. */
      q?: string | undefined;
      enabled?: boolean | undefined
    };
    body: undefined;
    answer: ConsolePairs
  };
  /** Enable or disable a pair for new jobs */
  switchPair: {
    path: {
      source: string;
      target: string
    };
    query: undefined;
    body: {
      enabled: boolean
    };
    answer: SwitchedPair
  };
  /** How the engines are */
  listEngines: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: ConsoleEngines
  };
  /** Have an engine translate a sentence */
  testEngine: {
    path: {
      engine: string
    };
    query: undefined;
    body: {
      source_language: string;
      target_language: string;
      text: string
    };
    answer: EngineTested
  };
  /** Which engines serve what, in which order */
  listRoutes: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: ConsoleRoutes
  };
  /** Set the engines of a route, or make it */
  setRoute: {
    path: undefined;
    query: undefined;
    body: {
      /** `*` in both fields means every language pair. */
      source_language: string;
      /** `*` in both fields means every language pair. */
      target_language: string;
      tier: '*' | 'human' | 'machine' | 'chat';
      account?: string | null | undefined;
      brand?: string | null | undefined;
      /** Names of engines, in order of preference. */
      engines: string[]
    };
    answer: ConsoleRoutes
  };
  /** Remove a route */
  removeRoute: {
    path: undefined;
    query: undefined;
    body: {
      /** `*` in both fields means every language pair. */
      source_language: string;
      /** `*` in both fields means every language pair. */
      target_language: string;
      tier: '*' | 'human' | 'machine' | 'chat';
      account?: string | null | undefined;
      brand?: string | null | undefined
    };
    answer: ConsoleRoutes
  };
  /** Translate a text with several engines */
  compareEngines: {
    path: undefined;
    query: undefined;
    body: {
      source_language: string;
      target_language: string;
      text: string;
      /** A translation of each line of the text. */
      references?: string | undefined;
      engines: string[]
    };
    answer: {
      comparison: string
    }
  };
  /** A comparison of engines */
  readComparison: {
    path: {
      comparison: string
    };
    query: undefined;
    body: undefined;
    answer: EngineComparison
  };
  /** Cancel a comparison of engines, or delete its result */
  endComparison: {
    path: {
      comparison: string
    };
    query: undefined;
    body: undefined;
    answer: undefined
  };
  /** List the jobs of all accounts, newest first */
  listConsoleJobs: {
    path: undefined;
    query: {
      /** The beginning of a uid, or an order number. */
      q?: string | undefined;
      account?: string | undefined;
      environment?: 'production' | 'sandbox' | undefined;
      status?: 'new' | 'machine_translate_in_progress' | 'translating' | 'completed' | 'failed' | 'canceled' | 'accepted' | 'rejected' | 'unfinished' | undefined;
      source_language?: string | undefined;
      target_language?: string | undefined;
      after?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: ConsoleJobs
  };
  /** Read a job with its history */
  readConsoleJob: {
    path: {
      username: string;
      job: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleJobDetail
  };
  /** Cancel an unfinished job for its customer */
  cancelConsoleJob: {
    path: {
      username: string;
      job: string
    };
    query: undefined;
    body: {
      /** A message that the customer sees in the job’s history. */
      note?: string | undefined
    };
    answer: ConsoleJobDetail
  };
  /** Redraft the segments that no editor has claimed or touched */
  redraftConsoleJob: {
    path: {
      username: string;
      job: string
    };
    query: undefined;
    body: {
      /** Only this engine; without it, the engine route decides. */
      engine?: string | undefined
    };
    answer: ConsoleJobDetail
  };
  /** Retry a job now that waits for its next try */
  retryConsoleJob: {
    path: {
      username: string;
      job: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleJobDetail
  };
  /** List the webhook endpoints of an account */
  listAccountWebhookEndpoints: {
    path: {
      username: string
    };
    query: undefined;
    body: undefined;
    answer: WebhookEndpointList
  };
  /** Deliveries of all accounts, newest first */
  listConsoleDeliveries: {
    path: undefined;
    query: {
      account?: string | undefined;
      status?: 'pending' | 'delivered' | 'dead' | undefined;
      environment?: 'production' | 'sandbox' | undefined;
      host?: string | undefined;
      after?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: ConsoleDeliveries
  };
  /** Replay all deliveries that died since a moment */
  replayDeadDeliveries: {
    path: undefined;
    query: undefined;
    body: {
      account: string;
      environment: 'production' | 'sandbox';
      /** A date (its start in UTC), or a date and time with a time zone. */
      since: string
    };
    answer: ConsoleReplayed
  };
  /** A delivery with its attempts */
  readConsoleDelivery: {
    path: {
      delivery: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleDeliveryDetail
  };
  /** Replay a delivery */
  replayConsoleDelivery: {
    path: {
      delivery: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleDelivery
  };
  /** Search entries by words of their source or target */
  searchMyMemory: {
    path: undefined;
    query: {
      /** Words in any case and order; all must match. Without it, all entries. */
      q?: string | undefined;
      from?: string | undefined;
      to?: string | undefined;
      brand?: string | undefined;
      state?: 'live' | 'withdrawn' | 'all' | undefined;
      before?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: MemoryEntries
  };
  /** Count entries by language pair and brand */
  summarizeMyMemory: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: MemorySummary
  };
  /** Import a TMX file */
  importMyMemory: {
    path: undefined;
    query: undefined;
    body: {
      from: string;
      to: string;
      brand?: string | undefined;
      /** Read the file and count, but write nothing. */
      dry_run?: boolean | undefined;
      /** The text of the file, TMX 1.4. */
      tmx: string
    };
    answer: MemoryImported
  };
  /** Export the usable entries as TMX 1.4 */
  exportMyMemory: {
    path: undefined;
    query: {
      from?: string | undefined;
      to?: string | undefined;
      brand?: string | undefined
    };
    body: undefined;
    answer: undefined
  };
  /** Read an entry and where it was made and used */
  readMyMemory: {
    path: {
      memory_id: string
    };
    query: undefined;
    body: undefined;
    answer: MemoryEntryTouched
  };
  /** Withdraw an entry, so that it is not used any more */
  withdrawMyMemory: {
    path: {
      memory_id: string
    };
    query: undefined;
    body: {
      reason?: string | undefined
    };
    answer: MemoryEntryTouched
  };
  /** Restore a withdrawn entry */
  restoreMyMemory: {
    path: {
      memory_id: string
    };
    query: undefined;
    body: undefined;
    answer: MemoryEntryTouched
  };
  /** Search entries by words of their source or target */
  searchAccountMemory: {
    path: {
      username: string
    };
    query: {
      /** Words in any case and order; all must match. Without it, all entries. */
      q?: string | undefined;
      from?: string | undefined;
      to?: string | undefined;
      brand?: string | undefined;
      state?: 'live' | 'withdrawn' | 'all' | undefined;
      before?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: MemoryEntries
  };
  /** Count entries by language pair and brand */
  summarizeAccountMemory: {
    path: {
      username: string
    };
    query: undefined;
    body: undefined;
    answer: MemorySummary
  };
  /** Import a TMX file */
  importAccountMemory: {
    path: {
      username: string
    };
    query: undefined;
    body: {
      from: string;
      to: string;
      brand?: string | undefined;
      /** Read the file and count, but write nothing. */
      dry_run?: boolean | undefined;
      /** The text of the file, TMX 1.4. */
      tmx: string
    };
    answer: MemoryImported
  };
  /** Export the usable entries as TMX 1.4 */
  exportAccountMemory: {
    path: {
      username: string
    };
    query: {
      from?: string | undefined;
      to?: string | undefined;
      brand?: string | undefined
    };
    body: undefined;
    answer: undefined
  };
  /** Read an entry and where it was made and used */
  readAccountMemory: {
    path: {
      username: string;
      memory_id: string
    };
    query: undefined;
    body: undefined;
    answer: MemoryEntryTouched
  };
  /** Withdraw an entry, so that it is not used any more */
  withdrawAccountMemory: {
    path: {
      username: string;
      memory_id: string
    };
    query: undefined;
    body: {
      reason?: string | undefined
    };
    answer: MemoryEntryTouched
  };
  /** Restore a withdrawn entry */
  restoreAccountMemory: {
    path: {
      username: string;
      memory_id: string
    };
    query: undefined;
    body: undefined;
    answer: MemoryEntryTouched
  };
  /** Accept a completed job */
  acceptMyJob: {
    path: {
      /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
      uid: string
    };
    query: undefined;
    body: {
      environment?: 'production' | 'sandbox' | undefined
    };
    answer: JudgedJob
  };
  /** Send a completed job back to its editors */
  rejectMyJob: {
    path: {
      /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
      uid: string
    };
    query: undefined;
    body: {
      /** What is wrong with the translation; editors read it. */
      reason: string;
      environment?: 'production' | 'sandbox' | undefined
    };
    answer: JudgedJob
  }
}

/** Where each operation is. */
export const OPERATIONS = {
  readSandboxAsking: ['GET', '/api/sandbox-requests'],
  requestSandbox: ['POST', '/api/sandbox-requests'],
  readSandboxLink: ['GET', '/api/sandbox-requests/{token}'],
  openSandboxLink: ['POST', '/api/sandbox-requests/{token}'],
  whoAmI: ['GET', '/api/session'],
  signIn: ['POST', '/api/session'],
  signOut: ['DELETE', '/api/session'],
  readInvitation: ['GET', '/api/invitations/{token}'],
  acceptInvitation: ['POST', '/api/invitations/{token}'],
  readSignInOptions: ['GET', '/api/sign-in-options'],
  requestPasswordReset: ['POST', '/api/password-resets'],
  listSessions: ['GET', '/api/sessions'],
  endOtherSessions: ['DELETE', '/api/sessions'],
  endSession: ['DELETE', '/api/sessions/{session_id}'],
  readMe: ['GET', '/api/me'],
  changeMe: ['PATCH', '/api/me'],
  changePassword: ['POST', '/api/me/password'],
  readSecondFactor: ['GET', '/api/me/second-factor'],
  beginSecondFactor: ['POST', '/api/me/second-factor'],
  confirmSecondFactor: ['POST', '/api/me/second-factor/confirm'],
  renewRecoveryCodes: ['POST', '/api/me/second-factor/recovery-codes'],
  disableSecondFactor: ['POST', '/api/me/second-factor/disable'],
  readQueue: ['GET', '/api/editing/queue'],
  readWork: ['GET', '/api/editing/work'],
  claimTask: ['POST', '/api/editing/claims'],
  saveSegment: ['PUT', '/api/editing/tasks/{task}/segments/{position}'],
  markUnsure: ['PUT', '/api/editing/tasks/{task}/segments/{position}/unsure'],
  joinSegments: ['POST', '/api/editing/tasks/{task}/segments/{position}/join'],
  separateSegments: ['POST', '/api/editing/tasks/{task}/segments/{position}/separate'],
  splitSegment: ['POST', '/api/editing/tasks/{task}/segments/{position}/split'],
  unsplitSegment: ['POST', '/api/editing/tasks/{task}/segments/{position}/unsplit'],
  listMatches: ['GET', '/api/editing/tasks/{task}/segments/{position}/matches'],
  readHistory: ['GET', '/api/editing/tasks/{task}/segments/{position}/history'],
  proposeTerm: ['POST', '/api/editing/tasks/{task}/terms'],
  withdrawTerm: ['DELETE', '/api/editing/tasks/{task}/terms/{proposal}'],
  askCustomer: ['POST', '/api/editing/tasks/{task}/queries'],
  withdrawQuery: ['DELETE', '/api/editing/tasks/{task}/queries/{query}'],
  readTask: ['GET', '/api/editing/tasks/{task}'],
  searchMemory: ['GET', '/api/editing/tasks/{task}/concordance'],
  previewTask: ['GET', '/api/editing/tasks/{task}/preview'],
  heartbeat: ['POST', '/api/editing/tasks/{task}/heartbeat'],
  extendTask: ['POST', '/api/editing/tasks/{task}/extend'],
  releaseTask: ['POST', '/api/editing/tasks/{task}/release'],
  submitTask: ['POST', '/api/editing/tasks/{task}/submit'],
  skipTask: ['POST', '/api/editing/tasks/{task}/skip'],
  reportTask: ['POST', '/api/editing/tasks/{task}/report'],
  approveTask: ['POST', '/api/editing/tasks/{task}/approve'],
  returnTask: ['POST', '/api/editing/tasks/{task}/return'],
  markSeen: ['POST', '/api/editing/tasks/{task}/seen'],
  markIssue: ['POST', '/api/editing/tasks/{task}/issues'],
  unmarkIssue: ['DELETE', '/api/editing/tasks/{task}/issues/{issue}'],
  addComment: ['POST', '/api/editing/tasks/{task}/comments'],
  listTasks: ['GET', '/api/console/tasks'],
  readEffort: ['GET', '/api/console/effort'],
  releaseTaskOfAnother: ['POST', '/api/console/tasks/{task}/release'],
  setPriority: ['POST', '/api/console/tasks/{task}/priority'],
  reassignTask: ['POST', '/api/console/tasks/{task}/reassign'],
  listAccountVotes: ['GET', '/api/console/accounts/{username}/votes'],
  undoAccountVote: ['POST', '/api/console/accounts/{username}/votes/{vote}/undo'],
  listAccountDisagreements: ['GET', '/api/console/accounts/{username}/disagreements'],
  makeAccountRule: ['PUT', '/api/console/accounts/{username}/disagreements/{disagreement}/rule'],
  endAccountRule: ['DELETE', '/api/console/accounts/{username}/disagreements/{disagreement}/rule'],
  listOwnVotes: ['GET', '/api/account/votes'],
  undoOwnVote: ['POST', '/api/account/votes/{vote}/undo'],
  listOwnDisagreements: ['GET', '/api/account/disagreements'],
  makeOwnRule: ['PUT', '/api/account/disagreements/{disagreement}/rule'],
  endOwnRule: ['DELETE', '/api/account/disagreements/{disagreement}/rule'],
  subscribe: ['GET', '/api/live'],
  readOwnAccount: ['GET', '/api/account'],
  listOwnKeys: ['GET', '/api/account/keys'],
  makeOwnKey: ['POST', '/api/account/keys'],
  rollOwnKey: ['POST', '/api/account/keys/{key_id}/roll'],
  revokeOwnKey: ['POST', '/api/account/keys/{key_id}/revoke'],
  listOwnWebhookSecrets: ['GET', '/api/account/webhook-secrets'],
  rollOwnWebhookSecret: ['POST', '/api/account/webhook-secrets/{environment}/roll'],
  listOwnOrigins: ['GET', '/api/account/origins'],
  setOwnOrigins: ['PUT', '/api/account/origins'],
  listTeam: ['GET', '/api/account/team'],
  inviteToTeam: ['POST', '/api/account/team'],
  linkForTeam: ['POST', '/api/account/team/{user_id}/link'],
  disableInTeam: ['POST', '/api/account/team/{user_id}/disable'],
  enableInTeam: ['POST', '/api/account/team/{user_id}/enable'],
  setOwnerInTeam: ['POST', '/api/account/team/{user_id}/owner'],
  listOwnJobs: ['GET', '/api/account/jobs'],
  readOwnJob: ['GET', '/api/account/jobs/{uid}'],
  cancelOwnJob: ['POST', '/api/account/jobs/{uid}/cancel'],
  readDocumentOptions: ['GET', '/api/account/documents/options'],
  quoteDocument: ['POST', '/api/account/documents/quote'],
  sendDocument: ['POST', '/api/account/documents'],
  downloadOwnResult: ['GET', '/api/account/jobs/{uid}/result'],
  listOwnChats: ['GET', '/api/account/chats'],
  listOwnMessages: ['GET', '/api/account/chats/{chat_id}/messages'],
  listOwnWebhookEndpoints: ['GET', '/api/account/webhook-endpoints'],
  createOwnWebhookEndpoint: ['POST', '/api/account/webhook-endpoints'],
  changeOwnWebhookEndpoint: ['PATCH', '/api/account/webhook-endpoints/{endpoint_id}'],
  deleteOwnWebhookEndpoint: ['DELETE', '/api/account/webhook-endpoints/{endpoint_id}'],
  rollOwnWebhookEndpointSecret: ['POST', '/api/account/webhook-endpoints/{endpoint_id}/roll'],
  testCallbackUrl: ['POST', '/api/account/deliveries/test'],
  listOwnDeliveries: ['GET', '/api/account/deliveries'],
  countFailedDeliveries: ['GET', '/api/account/deliveries/failed'],
  replayFailedDeliveries: ['POST', '/api/account/deliveries/replay'],
  readOwnDelivery: ['GET', '/api/account/deliveries/{delivery_id}'],
  replayOwnDelivery: ['POST', '/api/account/deliveries/{delivery_id}/replay'],
  readOwnLedger: ['GET', '/api/account/ledger'],
  downloadLedger: ['GET', '/api/account/ledger.csv'],
  listOwnBrands: ['GET', '/api/account/brands'],
  readOwnBrand: ['GET', '/api/account/brands/{brand}'],
  listProposals: ['GET', '/api/account/brands/{brand}/proposals'],
  takeProposal: ['POST', '/api/account/proposals/{proposal}/take'],
  declineProposal: ['POST', '/api/account/proposals/{proposal}/decline'],
  listOwnQueries: ['GET', '/api/account/queries'],
  answerOwnQuery: ['POST', '/api/account/queries/{query}/answer'],
  readRetention: ['GET', '/api/account/retention'],
  changeRetention: ['PUT', '/api/account/retention'],
  exportOwnAccount: ['POST', '/api/account/export'],
  eraseOwnAccount: ['POST', '/api/account/erase'],
  readHome: ['GET', '/api/console/home'],
  listSettings: ['GET', '/api/console/settings'],
  listPeople: ['GET', '/api/console/people'],
  invitePerson: ['POST', '/api/console/people'],
  changePerson: ['PATCH', '/api/console/people/{user_id}'],
  linkForPerson: ['POST', '/api/console/people/{user_id}/link'],
  resetSecondFactor: ['POST', '/api/console/people/{user_id}/second-factor/reset'],
  disablePerson: ['POST', '/api/console/people/{user_id}/disable'],
  enablePerson: ['POST', '/api/console/people/{user_id}/enable'],
  listSandboxRequests: ['GET', '/api/console/sandbox-requests'],
  grantSandbox: ['POST', '/api/console/sandbox-requests/{request_id}/grant'],
  refuseSandbox: ['POST', '/api/console/sandbox-requests/{request_id}/refuse'],
  listAudit: ['GET', '/api/console/audit'],
  listAccounts: ['GET', '/api/console/accounts'],
  createAccount: ['POST', '/api/console/accounts'],
  readAccount: ['GET', '/api/console/accounts/{username}'],
  changeAccount: ['PATCH', '/api/console/accounts/{username}'],
  suspendAccount: ['POST', '/api/console/accounts/{username}/suspend'],
  resumeAccount: ['POST', '/api/console/accounts/{username}/resume'],
  makeAccountKey: ['POST', '/api/console/accounts/{username}/keys'],
  revokeAccountKey: ['DELETE', '/api/console/accounts/{username}/keys/{key}'],
  moveMoney: ['POST', '/api/console/accounts/{username}/transfers'],
  readStatement: ['GET', '/api/console/accounts/{username}/statement'],
  listPrices: ['GET', '/api/console/prices'],
  setPrice: ['POST', '/api/console/prices'],
  endPrice: ['POST', '/api/console/prices/end'],
  listConsoleBrands: ['GET', '/api/console/accounts/{username}/brands'],
  beginBrand: ['POST', '/api/console/accounts/{username}/brands'],
  readConsoleBrand: ['GET', '/api/console/accounts/{username}/brands/{brand}'],
  removeBrand: ['DELETE', '/api/console/accounts/{username}/brands/{brand}'],
  changeBrandDraft: ['PATCH', '/api/console/accounts/{username}/brands/{brand}/draft'],
  discardBrandDraft: ['DELETE', '/api/console/accounts/{username}/brands/{brand}/draft'],
  publishBrand: ['POST', '/api/console/accounts/{username}/brands/{brand}/publish'],
  tryPatterns: ['POST', '/api/console/accounts/{username}/brands/{brand}/protect'],
  listConsoleTerms: ['GET', '/api/console/accounts/{username}/brands/{brand}/terms'],
  editTerms: ['POST', '/api/console/accounts/{username}/brands/{brand}/terms'],
  importTerms: ['POST', '/api/console/accounts/{username}/brands/{brand}/import'],
  previewBrand: ['POST', '/api/console/accounts/{username}/brands/{brand}/preview'],
  listConsolePairs: ['GET', '/api/console/pairs'],
  switchPair: ['PUT', '/api/console/pairs/{source}/{target}'],
  listEngines: ['GET', '/api/console/engines'],
  testEngine: ['POST', '/api/console/engines/{engine}/test'],
  listRoutes: ['GET', '/api/console/routes'],
  setRoute: ['PUT', '/api/console/routes'],
  removeRoute: ['DELETE', '/api/console/routes'],
  compareEngines: ['POST', '/api/console/comparisons'],
  readComparison: ['GET', '/api/console/comparisons/{comparison}'],
  endComparison: ['DELETE', '/api/console/comparisons/{comparison}'],
  listConsoleJobs: ['GET', '/api/console/jobs'],
  readConsoleJob: ['GET', '/api/console/accounts/{username}/jobs/{job}'],
  cancelConsoleJob: ['POST', '/api/console/accounts/{username}/jobs/{job}/cancel'],
  redraftConsoleJob: ['POST', '/api/console/accounts/{username}/jobs/{job}/redraft'],
  retryConsoleJob: ['POST', '/api/console/accounts/{username}/jobs/{job}/retry'],
  listAccountWebhookEndpoints: ['GET', '/api/console/accounts/{username}/webhook-endpoints'],
  listConsoleDeliveries: ['GET', '/api/console/deliveries'],
  replayDeadDeliveries: ['POST', '/api/console/deliveries/replay'],
  readConsoleDelivery: ['GET', '/api/console/deliveries/{delivery}'],
  replayConsoleDelivery: ['POST', '/api/console/deliveries/{delivery}/replay'],
  searchMyMemory: ['GET', '/api/account/memory'],
  summarizeMyMemory: ['GET', '/api/account/memory/summary'],
  importMyMemory: ['POST', '/api/account/memory/import'],
  exportMyMemory: ['GET', '/api/account/memory/export'],
  readMyMemory: ['GET', '/api/account/memory/{memory_id}'],
  withdrawMyMemory: ['POST', '/api/account/memory/{memory_id}/withdraw'],
  restoreMyMemory: ['POST', '/api/account/memory/{memory_id}/restore'],
  searchAccountMemory: ['GET', '/api/console/accounts/{username}/memory'],
  summarizeAccountMemory: ['GET', '/api/console/accounts/{username}/memory/summary'],
  importAccountMemory: ['POST', '/api/console/accounts/{username}/memory/import'],
  exportAccountMemory: ['GET', '/api/console/accounts/{username}/memory/export'],
  readAccountMemory: ['GET', '/api/console/accounts/{username}/memory/{memory_id}'],
  withdrawAccountMemory: ['POST', '/api/console/accounts/{username}/memory/{memory_id}/withdraw'],
  restoreAccountMemory: ['POST', '/api/console/accounts/{username}/memory/{memory_id}/restore'],
  acceptMyJob: ['POST', '/api/account/jobs/{uid}/accept'],
  rejectMyJob: ['POST', '/api/account/jobs/{uid}/reject'],
} as const;
