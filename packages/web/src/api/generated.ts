// Written by `npm run client-types` from the description of the interface. Not to be edited.

/** Shown this once. */
export type AccountCredentials = {
  username: string;
  production_key: string;
  sandbox_key: string;
  webhook_secret_production: string;
  webhook_secret_sandbox: string
};

/** Something that an operator should look at. */
export type Attention = {
  kind: 'engine' | 'queue' | 'host' | 'dead' | 'overdrawn' | 'reported' | 'requests';
  severity: 'bad' | 'look';
  subject: string;
  account?: string | undefined;
  /** How many; of an overdrawn account, cents. */
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
  actor: 'person' | 'command' | 'program';
  /** A person’s e-mail then, or who ran the command. */
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
  /** What is delivered where no editor came in time. */
  fallback: 'wait' | 'machine';
  languages: ConsoleBrandLanguage[];
  revision: number;
  /** The brand was published by another way since it was begun. */
  stale: boolean;
  /** ISO 8601, in UTC. */
  changed_at: string;
  changed_by: string;
  changes: ConsoleBrandChanges
};

export type ChatMessage = {
  id: string;
  chat_id: string;
  /** The message’s identifier on your side; unique in its chat. */
  external_id: string;
  /** Who wrote it. */
  author_external_id: string | null;
  /** Where the translation is posted. A public http or https address without credentials. */
  callback_url?: string | undefined;
  /** `true`: written by a customer. `false`: by an agent. */
  is_inbound: boolean | null;
  /** Shortname of a language. */
  source_language: string;
  /** Shortname of a language. */
  target_language: string;
  text: string;
  text_format: MessageFormat;
  /** In the format of `text`; there once translated. */
  translated_text?: string | undefined;
  /** Identifier of the translation. */
  translation_uid: string;
  status: MessageStatus;
  creation_date: string;
  /** When it was translated. */
  completion_date?: string | undefined
};

export type ChatMessageList = {
  /** All messages of the chat. */
  length: number;
  messages: ChatMessage[];
  index: number;
  limit: number
};

export type ChatSubscription = {
  /** Null: every pair. */
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
  /** The number of a segment in its job, from 0. */
  position?: number | undefined;
  text: string;
  /** A name; of a customer, the account’s. */
  by: string;
  role: 'customer' | 'editor' | 'operator';
  /** ISO 8601, in UTC. */
  created_at: string
};

export type Comments = {
  comments: Comment[]
};

export type Concordance = {
  entries: ({
    memory: string;
    source: string;
    target: string;
    source_ranges: ({
      start: number;
      end: number
    })[];
    target_ranges: ({
      start: number;
      end: number
    })[];
    /** ISO 8601, in UTC. */
    created_at: string
  })[]
};

export type ConsoleAccount = {
  username: string;
  email: string | null;
  /** ISO 8601, in UTC. */
  created_at: string;
  /** Of what can be changed; goes with every change. */
  version: string;
  default_brand: string | null;
  chat: ChatSubscription | null;
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
    /** Null: never published. */
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
  /** Of the event and of its delivery: its `webhook-id`. */
  id: string;
  event: EventType;
  status: DeliveryStatus;
  /** Where it is posted. */
  url: string;
  /** Of the job that it is about. */
  uid?: string | undefined;
  chat_id?: string | undefined;
  /** Of the message that it is about. */
  message_id?: string | undefined;
  /** Why it is dead: 410, or 72 hours. */
  failure?: 'gone' | 'out of time' | undefined;
  created_at: string;
  finished_at?: string | undefined;
  /** Not before. */
  next_attempt_at?: string | undefined;
  /** How many there were. */
  attempts: number
};

export type ConsoleDeliveryDetail = {
  account: string;
  environment: 'production' | 'sandbox';
  /** Of the event and of its delivery: its `webhook-id`. */
  id: string;
  event: EventType;
  status: DeliveryStatus;
  /** Where it is posted. */
  url: string;
  /** Of the job that it is about. */
  uid?: string | undefined;
  chat_id?: string | undefined;
  /** Of the message that it is about. */
  message_id?: string | undefined;
  /** Why it is dead: 410, or 72 hours. */
  failure?: 'gone' | 'out of time' | undefined;
  created_at: string;
  finished_at?: string | undefined;
  /** Not before. */
  next_attempt_at?: string | undefined;
  /** How many there were. */
  attempts: number;
  content_type: string;
  /** The first 64 KiB of it. */
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
    slowest: number
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
  /** The worst first; empty: all clear. */
  attention: Attention[];
  queues: ({
    source_language: string;
    target_language: string;
    waiting: number;
    working: number;
    /** Seconds that the oldest has waited. */
    oldest: number
  })[];
  engines: ({
    engine: string;
    state: 'closed' | 'half-open' | 'open' | 'away';
    waiting: number;
    /** In the last hour. */
    answered: number;
    failed: number
  })[];
  /** What was created in each of the last 24 hours. */
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

/** Of each list, the first 100. */
export type ConsoleImport = {
  dry_run: boolean;
  /** What is wrong with the file, by its line; nothing is imported then. */
  errors: ({
    where: string;
    reason: string
  })[];
  more_errors: number;
  /** Concepts without terms in both languages. */
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
  brand: string | null;
  tone: string | null;
  callback_url: string | null;
  /** When a machine looks at it next; null: never. */
  due_at: string | null;
  attempts: number;
  /** A worker has it now. */
  leased: boolean;
  /** While somebody is at work on it, and it is known; null: neither. */
  progress: JobProgress | null;
  may: {
    cancel: boolean;
    retry: boolean;
    refund: boolean;
    redraft: boolean
  };
  /** Segments that no editor has or has touched: what would be drafted anew. */
  untouched: number;
  /** It is being drafted anew: by which engine, or empty by the route. Null: it is not. */
  redraft: string | null;
  /** Those that have shown that they can do its pair. */
  engines: string[];
  timeline: ConsoleJobStep[];
  /** How many segments were drafted by which route, or not and why. */
  routes: ({
    route: string | null;
    failure: string | null;
    segments: number
  })[];
  /** Of each, the first 20,000 characters. */
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
  /** What it became. */
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
  /** The part of a key that is not secret: what it begins with. */
  key_id: string;
  environment: 'production' | 'sandbox';
  name: string;
  dialect: 'spec' | 'legacy';
  read_only: boolean;
  /** ISO 8601, in UTC. */
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  revoked_at: string | null;
  live: boolean;
  /** The e-mail of the person who made it. Null: a command made it, or a link to a sandbox did. */
  made_by: string | null
};

/** The key is shown this once. */
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
  /** All that match. */
  total: number
};

export type ConsolePerson = {
  user_id: string;
  email: string;
  name: string;
  role: PersonRole;
  account: string | null;
  /** Decides about the account: what is kept of it, and when it ends. */
  owner: boolean;
  status: 'active' | 'invited' | 'disabled';
  languages: EditorLanguage[];
  /** Percent of what they edit that is reviewed. */
  review_share: number;
  /** ISO 8601, in UTC. */
  created_at: string;
  last_seen_at: string | null;
  keys: LeftKey[]
};

export type ConsolePrice = {
  tier: 'human' | 'machine';
  /** Null: every account. */
  account: string | null;
  /** `*`: every pair. */
  source_language: string;
  target_language: string;
  cents_per_word: number;
  /** ISO 8601, in UTC. */
  from: string;
  until: string | null
};

export type ConsolePrices = {
  /** Those that have not ended, with those to come. */
  prices: ConsolePrice[];
  defaults: {
    human: number;
    machine: number
  }
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
  /** The one that held, and ends where this begins. */
  ends: ConsolePrice | null;
  dry_run: boolean
};

export type ConsoleSettings = {
  settings: ({
    name: string;
    /** Of a secret, nothing. */
    value: string;
    secret: boolean;
    /** It is another than the default. */
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
  /** For each day of the period, what was put on the balance and what was spent. */
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
  balance: number
};

export type ConsoleTask = {
  task: string;
  kind: TaskKind;
  status: TaskStatus;
  order_number: number;
  format: 'text' | 'html' | 'srt' | 'xliff';
  source_language: string;
  target_language: string;
  tone: string | null;
  topics: string[];
  /** The brand’s name. */
  brand: string | null;
  words: number;
  segments: number;
  /** Segments of it that are confirmed. */
  confirmed: number;
  priority: number;
  /** By what is left of the time to the deadline. */
  urgency: 'late' | 'soon' | 'normal';
  /** Came back for this editor, who may have it before others. */
  reserved: boolean;
  /** The time that a claim gives. */
  minutes: number;
  /** ISO 8601, in UTC. */
  created_at: string;
  /** ISO 8601, in UTC. */
  deadline: string;
  uid: string;
  /** The customer’s username. */
  account: string;
  /** Who has it, or had it last. */
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
  /** Of everything that is not over, by pair. */
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
    /** Against the published glossary. */
    change: 'added' | 'changed' | 'unchanged';
    /** How many translations its source has. */
    alternatives: number
  })[];
  /** Published terms that the draft does not have any more. */
  removed: ConsoleTerm[];
  total: number
};

export type Delivery = {
  /** Of the event and of its delivery: its `webhook-id`. */
  id: string;
  event: EventType;
  status: DeliveryStatus;
  /** Where it is posted. */
  url: string;
  /** Of the job that it is about. */
  uid?: string | undefined;
  chat_id?: string | undefined;
  /** Of the message that it is about. */
  message_id?: string | undefined;
  /** Why it is dead: 410, or 72 hours. */
  failure?: 'gone' | 'out of time' | undefined;
  created_at: string;
  finished_at?: string | undefined;
  /** Not before. */
  next_attempt_at?: string | undefined;
  /** How many there were. */
  attempts: number
};

export type DeliveryAttempt = {
  attempt: number;
  started_at: string;
  finished_at?: string | undefined;
  /** How it ended; not there while it is under way, or when its sender died in the middle of it. */
  outcome?: 'answered' | 'timeout' | 'refused address' | 'connect' | 'reset' | 'tls' | 'other' | undefined;
  /** In words, where there was no answer. */
  detail?: string | undefined;
  status_code?: number | undefined;
  /** Until the status line. */
  milliseconds?: number | undefined;
  /** Of the answer, cut; no cookies. */
  headers?: Record<string, string> | undefined;
  /** The first 4 KiB of the answer’s body. */
  answer?: string | undefined;
  /** False: it was cut, or broke off. */
  answer_complete?: boolean | undefined
};

export type DeliveryDetail = {
  /** Of the event and of its delivery: its `webhook-id`. */
  id: string;
  event: EventType;
  status: DeliveryStatus;
  /** Where it is posted. */
  url: string;
  /** Of the job that it is about. */
  uid?: string | undefined;
  chat_id?: string | undefined;
  /** Of the message that it is about. */
  message_id?: string | undefined;
  /** Why it is dead: 410, or 72 hours. */
  failure?: 'gone' | 'out of time' | undefined;
  created_at: string;
  finished_at?: string | undefined;
  /** Not before. */
  next_attempt_at?: string | undefined;
  /** The last hundred, oldest first. */
  attempts: DeliveryAttempt[]
};

export type DeliveryList = {
  objects: Delivery[];
  /** `after` of the next page; null at the end. */
  next: string | null
};

/** `pending` until the receiver says 2xx, `dead` after 410 or 72 hours. */
export type DeliveryStatus = 'pending' | 'delivered' | 'dead';

export type DisableRequest = {
  /** Whether the keys that they made end at once too; otherwise they stay. */
  revoke_keys?: boolean | undefined
};

export type EditorLanguage = {
  source_language: string;
  target_language: string;
  /** Whether they may review it too. */
  review: boolean
};

export type Effort = {
  rows: ({
    /** The job’s uid, the route, or the editor’s name, as asked. */
    key: string;
    segments: number;
    words: number;
    active_ms: number;
    distance: number;
    /** Segments confirmed as the draft was. */
    untouched: number
  })[]
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

export type EventType = 'job.completed' | 'job.failed' | 'job.canceled' | 'message.translated' | 'message.failed' | 'message.corrected' | 'test';

export type FailedDeliveries = {
  /** Up to ten thousand. */
  failed: number;
  /** Of what had been given up by then. */
  until: string
};

/** A host that deliveries of an account are held back from. */
export type FailingHost = {
  username: string;
  host: string;
  failures: number;
  open_until: string | null;
  since: string | null;
  waiting: number
};

export type FieldReason = 'required' | 'text' | 'not_empty' | 'text_length' | 'text_at_most' | 'one_line' | 'has_length' | 'has_at_least' | 'has_at_most' | 'whole_number' | 'one_of' | 'yes_or_no' | 'date' | 'in_the_future' | 'before_the_end' | 'days_before_the_end' | 'language' | 'id' | 'list' | 'email' | 'email_taken' | 'password_wrong' | 'password_guessed' | 'password_is_email' | 'account_name' | 'job_not_to_accept' | 'job_not_to_reject' | 'job_of_machine' | 'job_without_editor' | 'job_fell_back' | 'job_forgotten' | 'tmx';

/** What an automatic check says of a target. */
export type Finding = {
  /** Which check found it: the sentence is made from this and `values`. */
  check: string;
  severity: 'error' | 'warning';
  values: Record<string, string | number>;
  /** UTF-16 offsets in a text, codes without width. */
  range?: {
    start: number;
    end: number
  } | undefined
};

export type GrantedSandbox = {
  request: SandboxRequest;
  /** Shows the key, once. Shown this once. */
  link: string;
  /** ISO 8601, in UTC. */
  expires_at: string;
  /** Null: there is no mail. */
  mailed: boolean | null
};

export type HeldTask = {
  task: string;
  kind: TaskKind;
  status: TaskStatus;
  order_number: number;
  format: 'text' | 'html' | 'srt' | 'xliff';
  source_language: string;
  target_language: string;
  tone: string | null;
  topics: string[];
  /** The brand’s name. */
  brand: string | null;
  words: number;
  segments: number;
  /** Segments of it that are confirmed. */
  confirmed: number;
  priority: number;
  /** By what is left of the time to the deadline. */
  urgency: 'late' | 'soon' | 'normal';
  /** Came back for this editor, who may have it before others. */
  reserved: boolean;
  /** The time that a claim gives. */
  minutes: number;
  /** ISO 8601, in UTC. */
  created_at: string;
  /** ISO 8601, in UTC. */
  deadline: string;
  lease: Lease
};

export type History = {
  entries: HistoryEntry[]
};

export type HistoryEntry = {
  target: Piece[];
  /** `left`: sent after the claim had ended, and kept for whoever has the task next. */
  kind: 'confirmed' | 'left';
  by: string;
  revision: number;
  /** ISO 8601, in UTC. */
  created_at: string
};

/** What a link is for. */
export type Invitation = {
  purpose: 'invitation' | 'reset';
  email: string;
  name: string;
  role: PersonRole;
  account?: string | undefined;
  expires_at: string
};

export type InvitationAnswer = {
  name?: string | undefined;
  /** 10 to 200 characters. */
  password: string
};

export type InvitedPerson = {
  person: ConsolePerson;
  /** Opens once. Shown this once. Null: it is for another password, and was mailed to its owner alone. */
  link: string | null;
  /** ISO 8601, in UTC. */
  expires_at: string;
  /** Whether the mail was sent; null: none was to be. */
  mailed: boolean | null
};

/** An error that a reviewer marked, by MQM. */
export type Issue = {
  issue: string;
  /** The number of a segment in its job, from 0. */
  position: number;
  category: 'accuracy' | 'terminology' | 'linguistic_conventions' | 'style' | 'locale_conventions' | 'audience_appropriateness' | 'design_and_markup';
  severity: 'neutral' | 'minor' | 'major' | 'critical';
  note?: string | undefined;
  /** UTF-16 offsets in a text, codes without width. */
  range?: {
    start: number;
    end: number
  } | undefined;
  /** The reviewer’s name. */
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

export type JudgedJob = {
  uid: string;
  environment: 'production' | 'sandbox';
  status: 'new' | 'machine_translate_in_progress' | 'translating' | 'completed' | 'failed' | 'canceled' | 'accepted' | 'rejected'
};

/** How long what has ended is kept. */
export type Keeping = {
  /** Days; null: for ever. */
  attempts: number | null;
  /** Days; null: for ever. */
  events: number | null;
  /** Days; null: for ever. */
  texts: number | null
};

export type Lease = {
  /** Goes with every change; a later claim makes it stale. */
  token: string;
  /** Without a heartbeat before, it ends. */
  lease_until: string;
  /** The time for the task ends. */
  limit_until: string;
  /** Four fifths of that time are over. */
  warn_at: string;
  /** The one extension is used. */
  extended: boolean;
  /** By the clock that all of these are told by. */
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
  /** The latest 1000, oldest first. */
  lines: LedgerLine[];
  /** How many lines came before these. */
  left_out: number
};

export type LedgerLine = {
  /** ISO 8601, in UTC. */
  at: string;
  kind: string;
  uid: string | null;
  memo: string | null;
  /** US cents. */
  amount: number;
  /** What it does to what can be spent. */
  change: number;
  /** What can be spent after it. */
  balance: number
};

/** A key that the person made and that opens now. */
export type LeftKey = {
  key_id: string;
  environment: 'production' | 'sandbox';
  name: string;
  /** The account that it opens. */
  username: string
};

export type ListedAccount = {
  username: string;
  email: string | null;
  chat: boolean;
  /** ISO 8601, in UTC. */
  created_at: string;
  /** US cents. */
  balance: number;
  /** Null: it may owe without limit. */
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
  /** The chat’s identifier on your side. */
  external_id: string;
  /** Who serves the chat; should be an e-mail address. */
  agent_external_id: string | null;
  /** Identifier of a brand on your side. */
  brand: string | null;
  creation_date: string;
  messages: number
};

export type ListedChats = {
  objects: ListedChat[];
  next: string | null
};

export type Matches = {
  /** The best first. */
  matches: TaskMatch[];
  /** Those that are in the segment. */
  terms: TaskTerm[]
};

/** Who is signed in. */
export type Me = {
  user_id: string;
  email: string;
  name: string;
  role: PersonRole;
  /** The username of a customer’s account. */
  account?: string | undefined;
  /** A customer’s: whether they decide about the account. */
  owner?: boolean | undefined;
  /** null: as the browser says. */
  locale: string | null;
  theme: Theme;
  languages: EditorLanguage[];
  session: {
    session_id: string;
    /** Whatever is done until then. */
    ends_at: string;
    /** So long may nothing be done. */
    idle_seconds: number
  }
};

export type MeChanges = {
  name?: string | undefined;
  locale?: string | null | undefined;
  theme?: Theme | undefined
};

export type MemoryEntries = {
  /** The last made first. */
  entries: MemoryEntry[];
  /** `before` of the next page; null at the end. */
  next: string | null
};

/** One translation of one segment, as a reader sees it. */
export type MemoryEntry = {
  memory_id: string;
  source_language: string;
  target_language: string;
  /** null: for every brand. */
  brand: string | null;
  source: string;
  target: string;
  origin: 'import' | 'job';
  /** 0: not used any more; 1 brought in, 2 delivered, 3 reviewed, 4 accepted. */
  weight: number;
  /** The tone that its job or its brand asked for: a job that asks for another is not answered with it. */
  tone: string | null;
  created_at: string;
  changed_at: string;
  retracted: {
    at: string;
    by: string;
    reason: string | null
  } | null
};

export type MemoryEntryTouched = {
  entry: MemoryEntry;
  /** The last first, at most 1000. */
  touched: ({
    job_id: string;
    uid: string;
    environment: 'production' | 'sandbox';
    status: string;
    /** Of the segment in its job, from 0. */
    position: number;
    /** The entry came from there; or went there: put into the draft by the machine, or confirmed by an editor as it was. */
    how: 'taught' | 'applied' | 'taken';
    outcome: string | null;
    /** For operators. */
    editor_id?: string | null | undefined;
    created_at: string
  })[]
};

export type MemoryImported = {
  /** Units in the file. */
  read: number;
  /** Different entries that were brought in, or would be. */
  written: number;
  /** Units without the pair. */
  skipped: number
};

export type MemorySummary = {
  memory: ({
    source_language: string;
    target_language: string;
    brand: string | null;
    entries: number;
    /** Of them, those that are not used any more. */
    retracted: number;
    changed_at: string
  })[]
};

export type MessageFormat = 'html' | 'text';

/** `mt_init`: being translated. `deliver_init`: translated, the delivery is pending. `deliver_complete`: translated, and delivered or nobody to deliver to. `mt_failed`: could not be translated. `deliver_failed`: translated, but the receiver never took it. */
export type MessageStatus = 'mt_init' | 'deliver_init' | 'deliver_complete' | 'mt_failed' | 'deliver_failed';

export type MovedMoney = {
  kind: 'top_up' | 'adjustment' | 'refund';
  environment: 'production' | 'sandbox';
  /** What is put on the balance; below zero, what is taken off it. */
  cents: number;
  /** US cents. */
  before: number;
  /** US cents. */
  after: number;
  dry_run: boolean
};

/** How long what was there before goes on. */
export type Overlap = 'now' | '1h' | '24h';

export type OverlapRequest = {
  overlap: Overlap
};

export type OwnAccount = {
  username: string;
  email: string | null;
  /** Whether it has a chat subscription. */
  chat: boolean;
  balances: ({
    environment: 'production' | 'sandbox';
    /** US cents. */
    balance: number;
    /** Null: it may owe without limit. */
    credit_limit: number | null
  })[];
  /** How many there are, by status. */
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
  /** Each of the last 30, in UTC, the earliest first. */
  days: {
    production: OwnDay[];
    sandbox: OwnDay[]
  };
  /** Of the last 30 days, up to a thousand. */
  failed_deliveries: {
    production: number;
    sandbox: number
  };
  latest_jobs: {
    production: OwnJob[];
    sandbox: OwnJob[]
  }
};

export type OwnBrand = {
  external_id: string;
  name: string;
  /** Of requests that name none. */
  default: boolean;
  /** ISO 8601, in UTC. */
  changed_at: string;
  /** Counts its publications. */
  version: number;
  languages: ({
    language: string;
    tone: string | null;
    /** Whether there are some. */
    instructions: boolean;
    terms: number
  })[]
};

export type OwnBrandDetail = {
  external_id: string;
  name: string;
  default: boolean;
  version: number;
  languages: OwnBrandLanguage[]
};

export type OwnBrandLanguage = {
  language: string;
  tone: string | null;
  instructions: string | null;
  terms: OwnTerm[]
};

/** What was asked for on a day, and what it costs. */
export type OwnDay = {
  day: string;
  jobs: number;
  /** US cents. */
  cents: number
};

export type OwnJob = {
  uid: string;
  order_number: number;
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
  finished_at: string | null;
  tone: string | null;
  topics: string[];
  callback_url: string | null;
  failure: string | null;
  /** While somebody is at work on it, and it is known; null: neither. */
  progress: JobProgress | null;
  source: OwnJobText;
  result: OwnJobText | null;
  /** Of an upgraded job without a result: what the machine delivered before. It is the draft. */
  machine_result: OwnJobText | null;
  instructions: string | null;
  /** What it became, and by whom; oldest first. */
  timeline: OwnJobStep[];
  deliveries: Delivery[];
  /** What its state allows now. */
  may: {
    cancel: boolean;
    accept: boolean;
    reject: boolean
  }
};

export type OwnJobStep = {
  /** ISO 8601, in UTC. */
  at: string;
  /** What it became. */
  status: string;
  actor: 'machine' | 'editor' | 'customer' | 'operator';
  /** Why. */
  detail?: string | undefined
};

export type OwnJobText = {
  text: string;
  /** There is more than is shown. */
  cut: boolean
};

export type OwnJobs = {
  objects: OwnJob[];
  /** `after` of the next page. */
  next: string | null;
  /** All that match; where each has to be looked at, up to ten thousand. */
  total: number
};

export type OwnKey = {
  /** The part of a key that is not secret. */
  key_id: string;
  environment: 'production' | 'sandbox';
  name: string;
  dialect: 'spec' | 'legacy';
  read_only: boolean;
  /** ISO 8601, in UTC. */
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  /** When it was or will be ended by hand. */
  revoked_at: string | null;
  /** Whether it opens now. */
  live: boolean;
  /** The e-mail of the person of the account who made it. Null: the operator made it. */
  made_by: string | null
};

export type OwnMadeKey = {
  key_id: string;
  environment: 'production' | 'sandbox';
  name: string;
  /** As `user:key`. Shown this once. */
  key: string
};

export type OwnRolledKey = {
  key_id: string;
  environment: 'production' | 'sandbox';
  name: string;
  /** As `user:key`. Shown this once. */
  key: string;
  /** ISO 8601, in UTC. */
  previous_ends: string
};

export type OwnRolledSecret = {
  environment: 'production' | 'sandbox';
  /** Shown this once. */
  webhook_secret: string;
  /** Until then, those before sign too. */
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

/** One that signs now. What it is, nobody is shown again. */
export type OwnWebhookSecret = {
  secret_id: string;
  environment: 'production' | 'sandbox';
  /** ISO 8601, in UTC. */
  created_at: string;
  /** Null: until it is rolled. */
  expires_at: string | null
};

export type PasswordChange = {
  current_password: string;
  /** 10 to 200 characters. */
  password: string
};

export type PersonRole = 'customer' | 'editor' | 'operator';

/** A stretch of a segment: text; the halves of a paired code; a code alone; a word that is kept as it is. */
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
  /** The document with what is there now. Not to be trusted: show it in a sandbox. */
  text: string
};

export type PublishedBrand = {
  name: string;
  default: boolean;
  /** What is delivered where no editor came in time. */
  fallback: 'wait' | 'machine';
  languages: ConsoleBrandLanguage[];
  version: number
};

export type Queue = {
  /** In the order in which they should be taken; of one customer at most some at a time. */
  open: QueueTask[];
  /** How many this editor could take, shown or not; counted up to 1000. */
  waiting: number;
  held: HeldTask[];
  /** No claims until then: too many of them have run out. */
  paused_until: string | null
};

export type QueueTask = {
  task: string;
  kind: TaskKind;
  status: TaskStatus;
  order_number: number;
  format: 'text' | 'html' | 'srt' | 'xliff';
  source_language: string;
  target_language: string;
  tone: string | null;
  topics: string[];
  /** The brand’s name. */
  brand: string | null;
  words: number;
  segments: number;
  /** Segments of it that are confirmed. */
  confirmed: number;
  priority: number;
  /** By what is left of the time to the deadline. */
  urgency: 'late' | 'soon' | 'normal';
  /** Came back for this editor, who may have it before others. */
  reserved: boolean;
  /** The time that a claim gives. */
  minutes: number;
  /** ISO 8601, in UTC. */
  created_at: string;
  /** ISO 8601, in UTC. */
  deadline: string
};

export type ReplayedDeliveries = {
  /** So many are pending again. */
  replayed: number;
  /** To be sent by the next request; up to ten thousand. */
  left: number
};

export type SandboxAsking = {
  open: boolean
};

/** Shown this once. */
export type SandboxCredentials = {
  username: string;
  /** As `user:key`. */
  key: string;
  webhook_secret: string;
  /** What the paths of the interface follow. */
  base_url: string
};

export type SandboxGranted = {
  status: 'granted';
  link: string;
  /** ISO 8601, in UTC. */
  expires_at: string
};

/** Whose key a link shows. */
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
  /** Null: no link opens. */
  link_until: string | null;
  /** When its key was looked at. */
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
  /** What it is for. */
  use?: string | undefined
};

/** A save is a heartbeat, too. */
export type SavedSegment = {
  segment: Segment;
  /** Repeats that took the same target. */
  filled: Segment[];
  /** Warnings; errors would have refused it. */
  findings: Finding[];
  lease: Lease
};

export type Segment = {
  /** The number of a segment in its job, from 0. */
  position: number;
  /** Segments of one unit stand in one paragraph. */
  unit: number;
  source: Piece[];
  /** What an editor has made of it so far. */
  target: Piece[] | null;
  /** What it began with. */
  draft: Piece[] | null;
  /** Where the draft is from. */
  origin: 'machine' | 'memory' | 'supplied' | 'kept' | 'none';
  /** What made it, such as `apertium:eng-spa`. */
  route: string | null;
  /** Why the draft is a copy of the source: the document declares another language, the letters are of another script, or it is mostly symbols. Such words are not counted. */
  kept?: 'language' | 'script' | 'symbols' | undefined;
  status: SegmentStatus;
  /** Of the target; a save names the one that it changes. */
  revision: number;
  /** Of this task. Others are there to be read. */
  mine: boolean;
  /** What the document and the machine say about it. */
  notes: string[];
  /** Why there is no draft. */
  failure?: string | undefined;
  /** Characters of the target, by the document. */
  max_length?: number | undefined;
  /** Of a subtitle, in ms. */
  time?: {
    from: number;
    to: number;
    /** That the sentence runs over, where it is more than one. */
    cues?: number | undefined
  } | undefined;
  /** What each code stands for, by `open1`, `close1`, `single2`, `keep3`: text to show, never HTML. */
  codes: Record<string, string>;
  /** The first segment of the job that reads the same. */
  repeats?: number | undefined;
  /** The target came from confirming a repeat, and nobody has touched it. */
  filled: boolean;
  /** Warnings that the editor has seen, each by `keyOf` of `@dragoman/checks`. */
  acknowledged: string[];
  comments: number;
  issues: Issue[]
};

export type SegmentStatus = 'open' | 'draft' | 'confirmed';

export type SentLink = {
  /** Opens once. Shown this once. Null: it is for another password, and was mailed to its owner alone. */
  link: string | null;
  /** ISO 8601, in UTC. */
  expires_at: string;
  /** Whether the mail was sent; null: none was to be. */
  mailed: boolean | null
};

export type Session = {
  session_id: string;
  /** The one that asks. */
  current: boolean;
  /** The browser’s and the system’s name; empty where none is known. */
  user_agent: string;
  created_at: string;
  last_seen_at: string;
  ends_at: string
};

export type SignIn = {
  email: string;
  password: string
};

export type SwitchedPair = {
  source_language: string;
  target_language: string;
  enabled: boolean
};

export type Task = {
  task: string;
  kind: TaskKind;
  status: TaskStatus;
  /** What the reader sees. `record`: the segments that they wrote in, once. `offer`: the task’s own segments, before a claim. `held`: also those around it, the glossary, comments, the memory and the preview. `all`: an operator. */
  access: 'record' | 'offer' | 'held' | 'all';
  words: number;
  /** A reviewer or the customer sent it back. */
  returned: boolean;
  job: {
    uid: string;
    order_number: number;
    format: 'text' | 'html' | 'srt' | 'xliff';
    source_language: string;
    target_language: string;
    tone: string | null;
    topics: string[];
    /** The brand’s name. */
    brand: string | null;
    instructions: ({
      from: 'brand' | 'job';
      text: string
    })[];
    words: number;
    /** From 1; one more after each rejection. */
    revision: number;
    /** ISO 8601, in UTC. */
    created_at: string;
    /** ISO 8601, in UTC. */
    deadline: string
  };
  lease?: Lease | undefined;
  segments: Segment[];
  terms: TaskTerm[];
  comments: Comment[]
};

export type TaskKind = 'edit' | 'review';

/** What was translated before. */
export type TaskMatch = {
  memory: string;
  /** As it was remembered. */
  source: Piece[];
  /** In the codes of the segment. */
  target: Piece[];
  score: number;
  kind: 'context' | 'exact' | 'fuzzy';
  origin: string;
  brand?: string | undefined;
  /** The tone that it was confirmed under. */
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
  note?: string | undefined
};

export type Team = {
  objects: TeamMember[]
};

export type TeamMember = {
  user_id: string;
  email: string;
  name: string;
  status: 'active' | 'invited' | 'disabled';
  /** Who asks. */
  me: boolean;
  /** Decides about the account: what is kept of it, and when it ends. */
  owner: boolean;
  /** ISO 8601, in UTC. */
  created_at: string;
  last_seen_at: string | null;
  keys: LeftKey[]
};

export type Theme = 'system' | 'light' | 'dark';

/** Every refusal of the routes of the web app. Told apart by its code. */
export type WebError = {
  /** Some codes bring more. */
  error: {
    code: WebErrorCode;
    /** A sentence for people, in English. */
    message: string;
    /** A sentence for each wrong field, where a form can show it. */
    fields?: Record<string, unknown> | undefined;
    /** The same by code, for those that have one, to be said in any language. */
    reasons?: Record<string, unknown> | undefined;
    /** Seconds until it may be tried again. */
    retry_after?: number | undefined
  }
};

export type WebErrorCode = 'invalid_request' | 'unauthorized' | 'not_signed_in' | 'wrong_sign_in' | 'insufficient_balance' | 'invalid_subscription' | 'read_only_key' | 'chat_not_allowed' | 'owner_only' | 'cross_site' | 'not_found' | 'method_not_allowed' | 'request_timeout' | 'stale_lease' | 'conflict' | 'unconfirmed' | 'job_canceled' | 'nothing_waits' | 'task_taken' | 'too_many_claims' | 'claims_paused' | 'too_large' | 'checks_failed' | 'unsupported_type' | 'too_many_attempts' | 'too_many_streams' | 'headers_too_large' | 'server_error' | 'unavailable';

export type Work = {
  /** Segments confirmed, the last thirty days, latest first. */
  days: ({
    day: string;
    segments: number;
    words: number;
    active_ms: number;
    /** Characters changed of the drafts. */
    distance: number
  })[];
  /** What reviewers marked in them. */
  issues: ({
    category: 'accuracy' | 'terminology' | 'linguistic_conventions' | 'style' | 'locale_conventions' | 'audience_appropriateness' | 'design_and_markup';
    severity: 'neutral' | 'minor' | 'major' | 'critical';
    count: number
  })[];
  /** The last hundred claims that have ended, latest first. */
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
  /** Whether anybody may ask for a sandbox account */
  readSandboxAsking: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: SandboxAsking
  };
  /** Ask for a sandbox account */
  requestSandbox: {
    path: undefined;
    query: undefined;
    body: SandboxWish;
    answer: SandboxGranted | SandboxReceived
  };
  /** What a link would show */
  readSandboxLink: {
    path: {
      token: string
    };
    query: undefined;
    body: undefined;
    answer: SandboxLink
  };
  /** Show the key of a link, once */
  openSandboxLink: {
    path: {
      token: string
    };
    query: undefined;
    body: undefined;
    answer: SandboxCredentials
  };
  /** Who is signed in */
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
  /** What a link is for */
  readInvitation: {
    path: {
      token: string
    };
    query: undefined;
    body: undefined;
    answer: Invitation
  };
  /** Choose a password by a link, and be signed in */
  acceptInvitation: {
    path: {
      token: string
    };
    query: undefined;
    body: InvitationAnswer;
    answer: Me
  };
  /** Where one is signed in */
  listSessions: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: {
      objects: Session[]
    }
  };
  /** Sign out everywhere but here */
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
  /** Who is signed in */
  readMe: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Me
  };
  /** Change one’s name, language or theme */
  changeMe: {
    path: undefined;
    query: undefined;
    body: MeChanges;
    answer: Me
  };
  /** Change one’s password */
  changePassword: {
    path: undefined;
    query: undefined;
    body: PasswordChange;
    answer: undefined
  };
  /** What this editor may claim, and holds */
  readQueue: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Queue
  };
  /** What this editor has done */
  readWork: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Work
  };
  /** Claim the next task, or the one that is named */
  claimTask: {
    path: undefined;
    query: undefined;
    body: {
      task?: string | undefined
    };
    answer: Claimed
  };
  /** A task with everything that the workbench shows */
  readTask: {
    path: {
      task: string
    };
    query: undefined;
    body: undefined;
    answer: Task
  };
  /** Save a segment as a draft, or confirm it */
  saveSegment: {
    path: {
      task: string;
      /** The number of a segment in its job, from 0. */
      position: number
    };
    query: undefined;
    body: {
      /** The lease’s. */
      token: string;
      revision: number;
      target: Piece[];
      status: 'draft' | 'confirmed';
      acknowledged?: string[] | undefined;
      /** Time at this segment since the last save of it. */
      active_ms?: number | undefined
    };
    answer: SavedSegment
  };
  /** Memory and terms for one segment */
  listMatches: {
    path: {
      task: string;
      /** The number of a segment in its job, from 0. */
      position: number
    };
    query: undefined;
    body: undefined;
    answer: Matches
  };
  /** What a segment has been before */
  readHistory: {
    path: {
      task: string;
      /** The number of a segment in its job, from 0. */
      position: number
    };
    query: undefined;
    body: undefined;
    answer: History
  };
  /** Where words stand in the memory */
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
  /** The document with what is there now */
  previewTask: {
    path: {
      task: string
    };
    query: undefined;
    body: undefined;
    answer: Preview
  };
  /** Keep the lease */
  heartbeat: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease’s. */
      token: string
    };
    answer: Lease
  };
  /** Half as much time again, once */
  extendTask: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease’s. */
      token: string
    };
    answer: Lease
  };
  /** Give a task back; its drafts stay */
  releaseTask: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease’s. */
      token: string
    };
    answer: TaskState
  };
  /** Hand a task in */
  submitTask: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease’s. */
      token: string
    };
    answer: TaskState
  };
  /** Let the job be delivered */
  approveTask: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease’s. */
      token: string
    };
    answer: TaskState
  };
  /** Never be offered a task again */
  skipTask: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease’s. */
      token?: string | undefined;
      reason: 'too_hard' | 'not_my_topic' | 'no_time' | 'other'
    };
    answer: TaskState
  };
  /** Put a task before an operator */
  reportTask: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease’s. */
      token?: string | undefined;
      reason: 'bad_source' | 'wrong_language' | 'mixed_languages' | 'offensive' | 'unclear_instructions' | 'other';
      note?: string | undefined
    };
    answer: TaskState
  };
  /** Send the job back to its editors */
  returnTask: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease’s. */
      token: string;
      note?: string | undefined
    };
    answer: TaskState
  };
  /** Mark an error */
  markIssue: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      /** The lease’s. */
      token: string;
      /** The number of a segment in its job, from 0. */
      position: number;
      category: 'accuracy' | 'terminology' | 'linguistic_conventions' | 'style' | 'locale_conventions' | 'audience_appropriateness' | 'design_and_markup';
      severity: 'neutral' | 'minor' | 'major' | 'critical';
      note?: string | undefined;
      /** UTF-16 offsets in a text, codes without width. */
      range?: {
        start: number;
        end: number
      } | undefined
    };
    answer: Issue
  };
  /** Take a mark back */
  unmarkIssue: {
    path: {
      task: string;
      issue: string
    };
    query: undefined;
    body: {
      /** The lease’s. */
      token: string
    };
    answer: TaskState
  };
  /** What was said about the job */
  listComments: {
    path: {
      task: string
    };
    query: undefined;
    body: undefined;
    answer: Comments
  };
  /** Say something about the job, or a segment of it */
  addComment: {
    path: {
      task: string
    };
    query: undefined;
    body: {
      text: string;
      /** The number of a segment in its job, from 0. */
      position?: number | undefined
    };
    answer: Comment
  };
  /** Tasks of all customers */
  listTasks: {
    path: undefined;
    query: {
      status?: 'open' | 'claimed' | 'submitted' | 'done' | 'reported' | 'canceled' | undefined;
      kind?: 'edit' | 'review' | undefined;
      source_language?: string | undefined;
      target_language?: string | undefined;
      account?: string | undefined;
      limit?: number | undefined;
      offset?: number | undefined
    };
    body: undefined;
    answer: ConsoleTasks
  };
  /** What editing took, by job, route or editor */
  readEffort: {
    path: undefined;
    query: {
      by: 'job' | 'route' | 'editor';
      /** ISO 8601, in UTC. */
      since?: string | undefined
    };
    body: undefined;
    answer: Effort
  };
  /** Give a task back to the queue, whoever has it */
  releaseTaskOfAnother: {
    path: {
      task: string
    };
    query: undefined;
    body: undefined;
    answer: TaskState
  };
  /** Let a task go before others, or after */
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
  /** Keep a task for an editor */
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
  /** Be told when something has changed */
  lookOn: {
    path: undefined;
    query: {
      /** One, or several: `topic=jobs&topic=balance`; at most 12. */
      topic: string | string[]
    };
    body: undefined;
    answer: undefined
  };
  /** One’s account at a glance */
  readOwnAccount: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: OwnAccount
  };
  /** One’s keys, also those that ended */
  listOwnKeys: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: {
      objects: OwnKey[]
    }
  };
  /** Make a key */
  makeOwnKey: {
    path: undefined;
    query: undefined;
    body: {
      /** 1 to 100 characters. */
      name: string;
      environment: 'production' | 'sandbox';
      read_only?: boolean | undefined;
      expires_at?: string | null | undefined
    };
    answer: OwnMadeKey
  };
  /** Make a key like another one, which then ends */
  rollOwnKey: {
    path: {
      key_id: string
    };
    query: undefined;
    body: OverlapRequest;
    answer: OwnRolledKey
  };
  /** End a key at once */
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
  /** What signs one’s deliveries */
  listOwnWebhookSecrets: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: {
      objects: OwnWebhookSecret[]
    }
  };
  /** Sign with a new secret */
  rollOwnWebhookSecret: {
    path: {
      environment: 'production' | 'sandbox'
    };
    query: undefined;
    body: OverlapRequest;
    answer: OwnRolledSecret
  };
  /** The people of one’s account */
  listTeam: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Team
  };
  /** Invite somebody to one’s account */
  inviteToTeam: {
    path: undefined;
    query: undefined;
    body: {
      email: string;
      name?: string | undefined
    };
    answer: SentLink
  };
  /** Another link for somebody of the account */
  linkForTeam: {
    path: {
      user_id: string
    };
    query: undefined;
    body: undefined;
    answer: SentLink
  };
  /** Let somebody of the account in no more */
  disableInTeam: {
    path: {
      user_id: string
    };
    query: undefined;
    body: DisableRequest;
    answer: Team
  };
  /** Let somebody of the account in again */
  enableInTeam: {
    path: {
      user_id: string
    };
    query: undefined;
    body: undefined;
    answer: Team
  };
  /** Make somebody an owner of the account, or no owner any more */
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
  /** One’s jobs, newest first */
  listOwnJobs: {
    path: undefined;
    query: {
      environment?: 'production' | 'sandbox' | undefined;
      tier?: 'human' | 'machine' | undefined;
      /** One of the statuses. */
      status?: string | undefined;
      /** What the uid begins with. */
      uid__startswith?: string | undefined;
      /** What is in the uid. */
      uid__contains?: string | undefined;
      /** A shortname. */
      source_language?: string | undefined;
      /** A shortname. */
      target_language?: string | undefined;
      /** A moment. */
      created__gte?: string | undefined;
      /** A moment. */
      created__lt?: string | undefined;
      order_by?: 'created' | '-created' | undefined;
      /** `next` of the page before. */
      after?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: OwnJobs
  };
  /** One job with what happened to it */
  readOwnJob: {
    path: {
      uid: string
    };
    query: {
      environment?: 'production' | 'sandbox' | undefined
    };
    body: undefined;
    answer: OwnJobDetail
  };
  /** Take an unfinished job back */
  cancelOwnJob: {
    path: {
      uid: string
    };
    query: {
      environment?: 'production' | 'sandbox' | undefined
    };
    body: undefined;
    answer: OwnJobDetail
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
  /** The messages of a chat, in their order */
  listOwnMessages: {
    path: {
      chat_id: string
    };
    query: {
      environment?: 'production' | 'sandbox' | undefined;
      /** The first one’s place. */
      index?: number | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: ChatMessageList
  };
  /** One’s deliveries, newest first */
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
  /** How many were given up */
  countFailedDeliveries: {
    path: undefined;
    query: {
      environment?: 'production' | 'sandbox' | undefined;
      /** ISO 8601, in UTC. */
      since?: string | undefined
    };
    body: undefined;
    answer: FailedDeliveries
  };
  /** Send all again that were given up */
  replayFailedDeliveries: {
    path: undefined;
    query: undefined;
    body: {
      environment?: 'production' | 'sandbox' | undefined;
      /** ISO 8601, in UTC. */
      since?: string | undefined;
      /** ISO 8601, in UTC. */
      until?: string | undefined
    };
    answer: ReplayedDeliveries
  };
  /** One delivery with its attempts */
  readOwnDelivery: {
    path: {
      delivery_id: string
    };
    query: undefined;
    body: undefined;
    answer: DeliveryDetail
  };
  /** Send a delivery again that has ended */
  replayOwnDelivery: {
    path: {
      delivery_id: string
    };
    query: undefined;
    body: undefined;
    answer: Delivery
  };
  /** The movements of one’s balance */
  readOwnLedger: {
    path: undefined;
    query: {
      environment?: 'production' | 'sandbox' | undefined;
      /** A date; 30 days before the end where not given. */
      from?: string | undefined;
      /** A date, which is not in it; now where not given. */
      until?: string | undefined
    };
    body: undefined;
    answer: Ledger
  };
  /** The same as CSV, whole */
  downloadLedger: {
    path: undefined;
    query: {
      environment?: 'production' | 'sandbox' | undefined;
      /** A date; 30 days before the end where not given. */
      from?: string | undefined;
      /** A date, which is not in it; now where not given. */
      until?: string | undefined
    };
    body: undefined;
    answer: undefined
  };
  /** One’s brands */
  listOwnBrands: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: {
      objects: OwnBrand[]
    }
  };
  /** One brand with its glossaries */
  readOwnBrand: {
    path: {
      brand: string
    };
    query: undefined;
    body: undefined;
    answer: OwnBrandDetail
  };
  /** How long one’s data is kept */
  readKeeping: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Keeping
  };
  /** Keep one’s data so long from now on */
  changeKeeping: {
    path: undefined;
    query: undefined;
    body: {
      /** Days; null: for ever. */
      attempts: number | null;
      /** Days; null: for ever. */
      events: number | null;
      /** Days; null: for ever. */
      texts: number | null
    };
    answer: Keeping
  };
  /** All that is kept of one’s account, a JSON object a line */
  exportOwnAccount: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: undefined
  };
  /** Erase one’s account, for good */
  eraseOwnAccount: {
    path: undefined;
    query: undefined;
    body: {
      /** The account’s name, so that nobody does it by mistake. */
      username: string
    };
    answer: Erasing
  };
  /** What needs attention, and how the work goes */
  readHome: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: ConsoleHome
  };
  /** The settings of this process; secrets are not shown */
  listSettings: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: ConsoleSettings
  };
  /** Everybody who may sign in */
  listPeople: {
    path: undefined;
    query: {
      role?: 'customer' | 'editor' | 'operator' | undefined;
      /** A username. */
      account?: string | undefined;
      /** A part of the e-mail or name. */
      q?: string | undefined
    };
    body: undefined;
    answer: {
      people: ConsolePerson[]
    }
  };
  /** Invite somebody */
  invitePerson: {
    path: undefined;
    query: undefined;
    body: {
      email: string;
      name?: string | undefined;
      role: PersonRole;
      /** A customer’s, by username. */
      account?: string | undefined;
      languages?: EditorLanguage[] | undefined;
      review_share?: number | undefined
    };
    answer: InvitedPerson
  };
  /** One person */
  readPerson: {
    path: {
      user_id: string
    };
    query: undefined;
    body: undefined;
    answer: ConsolePerson
  };
  /** Change what somebody edits, and how much of it is reviewed */
  changePerson: {
    path: {
      user_id: string
    };
    query: undefined;
    body: {
      languages?: EditorLanguage[] | undefined;
      review_share?: number | undefined
    };
    answer: ConsolePerson
  };
  /** Another link for somebody */
  linkForPerson: {
    path: {
      user_id: string
    };
    query: undefined;
    body: undefined;
    answer: SentLink
  };
  /** Let somebody in no more */
  disablePerson: {
    path: {
      user_id: string
    };
    query: undefined;
    body: DisableRequest;
    answer: ConsolePerson
  };
  /** Let somebody in again */
  enablePerson: {
    path: {
      user_id: string
    };
    query: undefined;
    body: undefined;
    answer: ConsolePerson
  };
  /** Who asked for a sandbox account, newest first */
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
  /** Grant a request, or make another link for it */
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
  /** Who changed what, newest first */
  listAudit: {
    path: undefined;
    query: {
      /** A username. */
      account?: string | undefined;
      /** `key.made`, or `key` for all about keys. */
      action?: string | undefined;
      /** Part of the name of who did it. */
      name?: string | undefined;
      after?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: AuditEntries
  };
  /** Accounts, by username */
  listAccounts: {
    path: undefined;
    query: {
      /** A part of the username or e-mail. */
      q?: string | undefined;
      /** Only those that owe. */
      overdrawn?: boolean | undefined;
      after?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: ListedAccounts
  };
  /** Make an account with a key and a secret for each environment */
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
  /** One account */
  readAccount: {
    path: {
      username: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleAccount
  };
  /** Change what is given of an account */
  changeAccount: {
    path: {
      username: string
    };
    query: undefined;
    body: {
      version: string;
      email?: string | null | undefined;
      default_brand?: string | null | undefined;
      chat?: ChatSubscription | null | undefined;
      credit_limit?: number | null | undefined;
      sandbox_credit_limit?: number | null | undefined
    };
    answer: ConsoleAccount
  };
  /** Make another key */
  makeAccountKey: {
    path: {
      username: string
    };
    query: undefined;
    body: {
      name: string;
      environment: 'production' | 'sandbox';
      dialect?: 'spec' | 'legacy' | undefined;
      read_only?: boolean | undefined
    };
    answer: ConsoleMadeKey
  };
  /** End a key at once */
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
      /** Not for a refund, which is of all that was charged. */
      cents?: number | undefined;
      /** Of the job that is refunded. */
      uid?: string | undefined;
      /** Why, as the customer’s statement shows it. */
      memo: string;
      dry_run?: boolean | undefined
    };
    answer: MovedMoney
  };
  /** The movements of a balance */
  readStatement: {
    path: {
      username: string
    };
    query: {
      environment?: 'production' | 'sandbox' | undefined;
      /** A date; 30 days ago where not given. */
      from?: string | undefined;
      /** A date; now where not given. */
      until?: string | undefined
    };
    body: undefined;
    answer: ConsoleStatement
  };
  /** The prices of a word */
  listPrices: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: ConsolePrices
  };
  /** Set the price of a word, from a moment on */
  setPrice: {
    path: undefined;
    query: undefined;
    body: {
      tier: 'human' | 'machine';
      account?: string | null | undefined;
      /** `*` with `*`: every pair. */
      source_language: string;
      target_language: string;
      cents_per_word: number;
      from?: string | null | undefined;
      until?: string | null | undefined;
      dry_run?: boolean | undefined
    };
    answer: ConsoleSetPrice
  };
  /** End a price, and those to come of its scope */
  endPrice: {
    path: undefined;
    query: undefined;
    body: {
      tier: 'human' | 'machine';
      account?: string | null | undefined;
      /** `*` with `*`: every pair. */
      source_language: string;
      target_language: string
    };
    answer: ConsolePrices
  };
  /** The brands of an account, with drafts */
  listConsoleBrands: {
    path: {
      username: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleBrands
  };
  /** Begin a brand */
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
  /** A brand as it is published, and its draft */
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
  /** Change a draft, or begin one */
  changeBrandDraft: {
    path: {
      username: string;
      brand: string
    };
    query: undefined;
    body: {
      /** Of the draft as it was read; 0: there was none. */
      revision: number;
      name?: string | undefined;
      default?: boolean | undefined;
      fallback?: 'wait' | 'machine' | undefined;
      /** By language; null removes it with its glossary. */
      languages?: Record<string, {
        tone?: string | null | undefined;
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
  /** Put the draft in the brand’s place */
  publishBrand: {
    path: {
      username: string;
      brand: string
    };
    query: undefined;
    body: {
      /** Of the draft as it was read; 0: there was none. */
      revision: number;
      /** Also where the brand was published by another way meanwhile. */
      anyway?: boolean | undefined
    };
    answer: ConsoleBrand
  };
  /** The glossary of a brand for a language */
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
  /** Put terms into a draft’s glossary, or take them out */
  editTerms: {
    path: {
      username: string;
      brand: string
    };
    query: undefined;
    body: {
      /** Of the draft as it was read; 0: there was none. */
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
  /** Take the terms of a file into a draft */
  importTerms: {
    path: {
      username: string;
      brand: string
    };
    query: undefined;
    body: {
      /** Of the draft as it was read; 0: there was none. */
      revision: number;
      language: string;
      from?: string | null | undefined;
      /** Its name, for the faults. */
      file?: string | undefined;
      /** A table in CSV, or a termbase in TBX. */
      text: string;
      mode: 'replace' | 'merge';
      dry_run: boolean
    };
    answer: ConsoleImport
  };
  /** What an editor sees of a brand beside a text */
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
  /** Pairs that an engine can do, or that are closed */
  listConsolePairs: {
    path: undefined;
    query: {
      /** A shortname or a part of a language’s English name. */
      q?: string | undefined;
      enabled?: boolean | undefined
    };
    body: undefined;
    answer: ConsolePairs
  };
  /** Open or close a pair for new jobs */
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
      source_language: string;
      target_language: string;
      tier: '*' | 'human' | 'machine' | 'chat';
      account?: string | null | undefined;
      brand?: string | null | undefined;
      engines: string[]
    };
    answer: ConsoleRoutes
  };
  /** Remove a route */
  removeRoute: {
    path: undefined;
    query: undefined;
    body: {
      source_language: string;
      target_language: string;
      tier: '*' | 'human' | 'machine' | 'chat';
      account?: string | null | undefined;
      brand?: string | null | undefined
    };
    answer: ConsoleRoutes
  };
  /** Jobs of all accounts, newest first */
  listConsoleJobs: {
    path: undefined;
    query: {
      /** The beginning of a uid, or an order number. */
      q?: string | undefined;
      account?: string | undefined;
      environment?: 'production' | 'sandbox' | undefined;
      /** A status, or `unfinished`. */
      status?: string | undefined;
      source_language?: string | undefined;
      target_language?: string | undefined;
      after?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: ConsoleJobs
  };
  /** One job with what happened to it */
  readConsoleJob: {
    path: {
      username: string;
      job: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleJobDetail
  };
  /** Take an unfinished job back for its customer */
  cancelConsoleJob: {
    path: {
      username: string;
      job: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleJobDetail
  };
  /** Have the machine draft anew what no editor has or has touched */
  redraftConsoleJob: {
    path: {
      username: string;
      job: string
    };
    query: undefined;
    body: {
      /** By this engine alone; by the route otherwise. */
      engine?: string | undefined
    };
    answer: ConsoleJobDetail
  };
  /** Have a job drafted at once that waits for its next try */
  retryConsoleJob: {
    path: {
      username: string;
      job: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleJobDetail
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
  /** Send all again that were given up since then */
  replayDeadDeliveries: {
    path: undefined;
    query: undefined;
    body: {
      account: string;
      environment: 'production' | 'sandbox';
      /** ISO 8601, in UTC. */
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
  /** Send a delivery again */
  replayConsoleDelivery: {
    path: {
      delivery: string
    };
    query: undefined;
    body: undefined;
    answer: ConsoleDelivery
  };
  /** Entries that have all the words in their source or target */
  searchMyMemory: {
    path: undefined;
    query: {
      /** Words in any case and order; without them, all. */
      q?: string | undefined;
      /** Source language. */
      from?: string | undefined;
      /** Target language. */
      to?: string | undefined;
      brand?: string | undefined;
      state?: 'live' | 'retracted' | 'all' | undefined;
      before?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: MemoryEntries
  };
  /** How much there is, by pair and brand */
  summarizeMyMemory: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: MemorySummary
  };
  /** Bring a TMX file in */
  importMyMemory: {
    path: undefined;
    query: undefined;
    body: {
      from: string;
      to: string;
      brand?: string | undefined;
      /** Read it and tell; write nothing. */
      dry_run?: boolean | undefined;
      /** The text of the file, TMX 1.4. */
      tmx: string
    };
    answer: MemoryImported
  };
  /** What is in use, as TMX 1.4 */
  exportMyMemory: {
    path: undefined;
    query: {
      /** Source language. */
      from?: string | undefined;
      /** Target language. */
      to?: string | undefined;
      brand?: string | undefined
    };
    body: undefined;
    answer: undefined
  };
  /** An entry, where it came from and where it went */
  readMyMemory: {
    path: {
      memory_id: string
    };
    query: undefined;
    body: undefined;
    answer: MemoryEntryTouched
  };
  /** Take an entry back: it is used no more */
  retractMyMemory: {
    path: {
      memory_id: string
    };
    query: undefined;
    body: {
      reason?: string | undefined
    };
    answer: MemoryEntryTouched
  };
  /** Use an entry again */
  restoreMyMemory: {
    path: {
      memory_id: string
    };
    query: undefined;
    body: undefined;
    answer: MemoryEntryTouched
  };
  /** Entries that have all the words in their source or target */
  searchAccountMemory: {
    path: {
      username: string
    };
    query: {
      /** Words in any case and order; without them, all. */
      q?: string | undefined;
      /** Source language. */
      from?: string | undefined;
      /** Target language. */
      to?: string | undefined;
      brand?: string | undefined;
      state?: 'live' | 'retracted' | 'all' | undefined;
      before?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: MemoryEntries
  };
  /** How much there is, by pair and brand */
  summarizeAccountMemory: {
    path: {
      username: string
    };
    query: undefined;
    body: undefined;
    answer: MemorySummary
  };
  /** Bring a TMX file in */
  importAccountMemory: {
    path: {
      username: string
    };
    query: undefined;
    body: {
      from: string;
      to: string;
      brand?: string | undefined;
      /** Read it and tell; write nothing. */
      dry_run?: boolean | undefined;
      /** The text of the file, TMX 1.4. */
      tmx: string
    };
    answer: MemoryImported
  };
  /** What is in use, as TMX 1.4 */
  exportAccountMemory: {
    path: {
      username: string
    };
    query: {
      /** Source language. */
      from?: string | undefined;
      /** Target language. */
      to?: string | undefined;
      brand?: string | undefined
    };
    body: undefined;
    answer: undefined
  };
  /** An entry, where it came from and where it went */
  readAccountMemory: {
    path: {
      username: string;
      memory_id: string
    };
    query: undefined;
    body: undefined;
    answer: MemoryEntryTouched
  };
  /** Take an entry back: it is used no more */
  retractAccountMemory: {
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
  /** Use an entry again */
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
      uid: string
    };
    query: undefined;
    body: {
      /** What is wrong: the editors read it. */
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
  listSessions: ['GET', '/api/sessions'],
  endOtherSessions: ['DELETE', '/api/sessions'],
  endSession: ['DELETE', '/api/sessions/{session_id}'],
  readMe: ['GET', '/api/me'],
  changeMe: ['PATCH', '/api/me'],
  changePassword: ['POST', '/api/me/password'],
  readQueue: ['GET', '/api/editing/queue'],
  readWork: ['GET', '/api/editing/work'],
  claimTask: ['POST', '/api/editing/claims'],
  readTask: ['GET', '/api/editing/tasks/{task}'],
  saveSegment: ['PUT', '/api/editing/tasks/{task}/segments/{position}'],
  listMatches: ['GET', '/api/editing/tasks/{task}/segments/{position}/matches'],
  readHistory: ['GET', '/api/editing/tasks/{task}/segments/{position}/history'],
  searchMemory: ['GET', '/api/editing/tasks/{task}/concordance'],
  previewTask: ['GET', '/api/editing/tasks/{task}/preview'],
  heartbeat: ['POST', '/api/editing/tasks/{task}/heartbeat'],
  extendTask: ['POST', '/api/editing/tasks/{task}/extend'],
  releaseTask: ['POST', '/api/editing/tasks/{task}/release'],
  submitTask: ['POST', '/api/editing/tasks/{task}/submit'],
  approveTask: ['POST', '/api/editing/tasks/{task}/approve'],
  skipTask: ['POST', '/api/editing/tasks/{task}/skip'],
  reportTask: ['POST', '/api/editing/tasks/{task}/report'],
  returnTask: ['POST', '/api/editing/tasks/{task}/return'],
  markIssue: ['POST', '/api/editing/tasks/{task}/issues'],
  unmarkIssue: ['DELETE', '/api/editing/tasks/{task}/issues/{issue}'],
  listComments: ['GET', '/api/editing/tasks/{task}/comments'],
  addComment: ['POST', '/api/editing/tasks/{task}/comments'],
  listTasks: ['GET', '/api/console/tasks'],
  readEffort: ['GET', '/api/console/effort'],
  releaseTaskOfAnother: ['POST', '/api/console/tasks/{task}/release'],
  setPriority: ['POST', '/api/console/tasks/{task}/priority'],
  reassignTask: ['POST', '/api/console/tasks/{task}/reassign'],
  lookOn: ['GET', '/api/live'],
  readOwnAccount: ['GET', '/api/account'],
  listOwnKeys: ['GET', '/api/account/keys'],
  makeOwnKey: ['POST', '/api/account/keys'],
  rollOwnKey: ['POST', '/api/account/keys/{key_id}/roll'],
  revokeOwnKey: ['POST', '/api/account/keys/{key_id}/revoke'],
  listOwnWebhookSecrets: ['GET', '/api/account/webhook-secrets'],
  rollOwnWebhookSecret: ['POST', '/api/account/webhook-secrets/{environment}/roll'],
  listTeam: ['GET', '/api/account/team'],
  inviteToTeam: ['POST', '/api/account/team'],
  linkForTeam: ['POST', '/api/account/team/{user_id}/link'],
  disableInTeam: ['POST', '/api/account/team/{user_id}/disable'],
  enableInTeam: ['POST', '/api/account/team/{user_id}/enable'],
  setOwnerInTeam: ['POST', '/api/account/team/{user_id}/owner'],
  listOwnJobs: ['GET', '/api/account/jobs'],
  readOwnJob: ['GET', '/api/account/jobs/{uid}'],
  cancelOwnJob: ['POST', '/api/account/jobs/{uid}/cancel'],
  listOwnChats: ['GET', '/api/account/chats'],
  listOwnMessages: ['GET', '/api/account/chats/{chat_id}/messages'],
  listOwnDeliveries: ['GET', '/api/account/deliveries'],
  countFailedDeliveries: ['GET', '/api/account/deliveries/failed'],
  replayFailedDeliveries: ['POST', '/api/account/deliveries/replay'],
  readOwnDelivery: ['GET', '/api/account/deliveries/{delivery_id}'],
  replayOwnDelivery: ['POST', '/api/account/deliveries/{delivery_id}/replay'],
  readOwnLedger: ['GET', '/api/account/ledger'],
  downloadLedger: ['GET', '/api/account/ledger.csv'],
  listOwnBrands: ['GET', '/api/account/brands'],
  readOwnBrand: ['GET', '/api/account/brands/{brand}'],
  readKeeping: ['GET', '/api/account/retention'],
  changeKeeping: ['PUT', '/api/account/retention'],
  exportOwnAccount: ['POST', '/api/account/export'],
  eraseOwnAccount: ['POST', '/api/account/erase'],
  readHome: ['GET', '/api/console/home'],
  listSettings: ['GET', '/api/console/settings'],
  listPeople: ['GET', '/api/console/people'],
  invitePerson: ['POST', '/api/console/people'],
  readPerson: ['GET', '/api/console/people/{user_id}'],
  changePerson: ['PATCH', '/api/console/people/{user_id}'],
  linkForPerson: ['POST', '/api/console/people/{user_id}/link'],
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
  listConsoleJobs: ['GET', '/api/console/jobs'],
  readConsoleJob: ['GET', '/api/console/accounts/{username}/jobs/{job}'],
  cancelConsoleJob: ['POST', '/api/console/accounts/{username}/jobs/{job}/cancel'],
  redraftConsoleJob: ['POST', '/api/console/accounts/{username}/jobs/{job}/redraft'],
  retryConsoleJob: ['POST', '/api/console/accounts/{username}/jobs/{job}/retry'],
  listConsoleDeliveries: ['GET', '/api/console/deliveries'],
  replayDeadDeliveries: ['POST', '/api/console/deliveries/replay'],
  readConsoleDelivery: ['GET', '/api/console/deliveries/{delivery}'],
  replayConsoleDelivery: ['POST', '/api/console/deliveries/{delivery}/replay'],
  searchMyMemory: ['GET', '/api/account/memory'],
  summarizeMyMemory: ['GET', '/api/account/memory/summary'],
  importMyMemory: ['POST', '/api/account/memory/import'],
  exportMyMemory: ['GET', '/api/account/memory/export'],
  readMyMemory: ['GET', '/api/account/memory/{memory_id}'],
  retractMyMemory: ['POST', '/api/account/memory/{memory_id}/retract'],
  restoreMyMemory: ['POST', '/api/account/memory/{memory_id}/restore'],
  searchAccountMemory: ['GET', '/api/console/accounts/{username}/memory'],
  summarizeAccountMemory: ['GET', '/api/console/accounts/{username}/memory/summary'],
  importAccountMemory: ['POST', '/api/console/accounts/{username}/memory/import'],
  exportAccountMemory: ['GET', '/api/console/accounts/{username}/memory/export'],
  readAccountMemory: ['GET', '/api/console/accounts/{username}/memory/{memory_id}'],
  retractAccountMemory: ['POST', '/api/console/accounts/{username}/memory/{memory_id}/retract'],
  restoreAccountMemory: ['POST', '/api/console/accounts/{username}/memory/{memory_id}/restore'],
  acceptMyJob: ['POST', '/api/account/jobs/{uid}/accept'],
  rejectMyJob: ['POST', '/api/account/jobs/{uid}/reject'],
} as const;
