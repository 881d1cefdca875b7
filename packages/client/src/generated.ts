// Written by `npm run client-types` from the description of the interface. Not to be edited.

export type Account = {
  username: string;
  /** The e-mail address; empty if the account has none. */
  email: string;
  /** The balance in this environment, in cents, without the credit limit. */
  balance: number
};

export type AccountList = {
  objects: ({
    account: Account
  })[]
};

export type BulkCreation = {
  /** The jobs in the order of the request. */
  objects: JobCreation[]
};

export type BulkRequest = {
  objects: JobRequest[]
};

export type Chat = {
  id: string;
  /** Your identifier of the chat. */
  external_id: string;
  /** The agent who serves the chat; should be an e-mail address. */
  agent_external_id: string | null;
  /** The chat’s brand on your platform. If it is a brand of the account, its style and glossary apply. */
  brand: string | null;
  creation_date: string
};

export type ChatError = {
  error: {
    code: 'validation_error' | 'invalid_subscription' | 'server_error';
    /** A description; for `validation_error` one line for each invalid field. */
    message: string
  }
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

/** `null` is the same as absent; unknown fields are ignored. */
export type ChatMessageRequest = {
  /** Your identifier of the chat. A new one creates a chat. */
  chat_external_id: string;
  /** Your identifier of the message, unique in its chat. It makes retries safe. */
  external_id: string;
  /** A language code. */
  source_language: string;
  /** A language code. */
  target_language: string;
  /** The text to translate. The operator sets its maximum length: at least 6,000 characters, by default 20,000. */
  text: string;
  text_format: MessageFormat;
  /** The URL to which the result is posted: public, http or https, without credentials. */
  callback_url?: string | undefined;
  /** The chat’s brand on your platform; stored when the chat is new. */
  brand?: string | undefined;
  /** The agent who serves the chat; stored when the chat is new. */
  agent_external_id?: string | undefined;
  /** `true` for a message of a customer. */
  is_inbound?: boolean | undefined;
  /** The author of the message. */
  author_external_id?: string | undefined
};

/** `null` is the same as absent; unknown fields are ignored. */
export type ChatRequest = {
  /** Your identifier of the chat; assigned when absent. */
  external_id?: string | undefined;
  /** The chat’s brand on your platform. If it is a brand of the account, its style and glossary apply. */
  brand?: string | undefined;
  /** The agent who serves the chat. */
  agent_external_id?: string | undefined
};

export type CreatedChat = {
  chat_id: string;
  created_at: string;
  external_id: string;
  /** The agent who serves the chat. */
  agent_external_id: string | null
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

export type DeliveryDetail = {
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
  attempts: DeliveryAttempt[]
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

/** `pending` until the receiver answers 2xx; `dead` after 410 or 72 hours. */
export type DeliveryStatus = 'pending' | 'delivered' | 'dead';

/** Words that cost only a share of their price. */
export type Discount = {
  /** The match of the words: `context` and `exact` are sentences that an editor confirmed in an earlier job, with or without the same neighbors; `fuzzy95`, `fuzzy85` and `fuzzy75` are similar to such a sentence, by at least 95, 85 or 75 %; `repeat` are sentences that occurred earlier in the text. */
  kind: 'context' | 'exact' | 'fuzzy95' | 'fuzzy85' | 'fuzzy75' | 'repeat';
  words: number;
  /** Percent of the price of a word. */
  share: number
};

export type EndpointEvent = {
  /** The id of the event, and of its callback if it has one. */
  id: string;
  type: EventType;
  created_at: string;
  job?: EventJob | undefined;
  message?: EventMessage | undefined
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

/** Every error of the API. Errors are identified by their status. */
export type ErrorBody = {
  /** For 400, one line for each invalid field: `field: reason`. The wording may change. */
  error: string
};

export type Event = {
  /** The id of the event, and of its callback if it has one. */
  id: string;
  type: EventType;
  created_at: string;
  job?: EventJob | undefined;
  message?: EventMessage | undefined;
  delivery?: EventDelivery | undefined
};

/** The callback; absent if the event had no callback URL. */
export type EventDelivery = {
  status: DeliveryStatus
};

export type EventJob = {
  uid: string;
  tier: 'human' | 'machine'
};

export type EventMessage = {
  chat_id: string;
  id: string
};

export type EventPage = {
  objects: Event[];
  /** The cursor to continue from. It does not expire. */
  next: string;
  /** Whether there may be more events now. */
  more: boolean
};

export type EventType = 'job.completed' | 'job.failed' | 'job.canceled' | 'job.asked' | 'message.translated' | 'message.failed' | 'message.corrected' | 'test';

export type Job = {
  /** Cents. */
  price: number;
  /** A language code. */
  source_language: string;
  status: JobStatus;
  /** A language code. */
  target_language: string;
  text: string;
  text_format: TextFormat;
  /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
  uid: string;
  discounts?: Discount[] | undefined;
  /** The deadline passed before an editor finished: the result is a machine’s, and nothing was charged. Set by the brand. */
  fallback?: 'machine' | undefined;
  /** The translation, in the format of `text`; present when the job is completed. */
  translated_text?: string | undefined;
  /** The number of sentences that no engine could translate. They keep their source text and are not charged. Absent if all were translated. */
  untranslated?: number | undefined;
  /** Why the job failed. */
  failure?: string | undefined;
  /** The account’s available cents. */
  balance: number;
  /** The username of the account. */
  client: string
};

/** A job that has completed or failed. */
export type JobCallback = {
  /** Number of the job in its account and environment. There may be gaps. */
  order_number: number;
  /** Cents. */
  price: number;
  /** A language code. */
  source_language: string;
  status: JobStatus;
  /** A language code. */
  target_language: string;
  text: string;
  text_format: TextFormat;
  /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
  uid: string;
  discounts?: Discount[] | undefined;
  /** The deadline passed before an editor finished: the result is a machine’s, and nothing was charged. Set by the brand. */
  fallback?: 'machine' | undefined;
  /** The translation, in the format of `text`; present when the job is completed. */
  translated_text?: string | undefined;
  /** The number of sentences that no engine could translate. They keep their source text and are not charged. Absent if all were translated. */
  untranslated?: number | undefined;
  /** Why the job failed. */
  failure?: string | undefined
};

/** Fields that the request did not contain are absent. */
export type JobCreation = {
  /** Number of the job in its account and environment. There may be gaps. */
  order_number: number;
  /** Cents. */
  price: number;
  discounts?: Discount[] | undefined;
  /** A language code. */
  source_language: string;
  status: JobStatus;
  /** A language code. */
  target_language: string;
  text: string;
  text_format: TextFormat;
  /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
  uid: string;
  tone?: string | undefined;
  topics?: string[] | undefined;
  /** The external identifier of a brand of the account. */
  brand?: string | undefined;
  /** URL to which the finished job is posted: public, http or https, without credentials. */
  callback_url?: string | undefined;
  /** The account’s available cents. */
  balance: number;
  /** The username of the account. */
  client: string
};

export type JobList = {
  meta: PageMeta;
  objects: JobListItem[]
};

export type JobListItem = {
  /** Number of the job in its account and environment. There may be gaps. */
  order_number: number;
  /** Cents. */
  price: number;
  /** A language code. */
  source_language: string;
  status: JobStatus;
  /** A language code. */
  target_language: string;
  text_format: TextFormat;
  /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
  uid: string
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

/** `null` is the same as absent; unknown fields are ignored. */
export type JobRequest = {
  /** The text to translate, in the format of `text_format`. At most 10 MiB of UTF-8. */
  text: string;
  /** A language code; detected when absent. */
  source_language?: string | undefined;
  /** A language code. */
  target_language: string;
  /** The format of `text`; plain text when absent. */
  text_format?: 'text' | 'html' | 'srt' | 'xliff' | 'vtt' | undefined;
  /** Your name for the job; assigned when absent. Makes a retry safe. */
  uid?: string | undefined;
  /** URL to which the finished job is posted: public, http or https, without credentials. */
  callback_url?: string | undefined;
  /** The external identifier of a brand of the account. */
  brand?: string | undefined;
  tone?: 'Informal' | 'Formal' | undefined;
  /** The older name of `tone`. */
  formality?: 'Informal' | 'Formal' | undefined;
  topics?: ('politics' | 'gossip' | 'sex & relationships' | 'crafts' | 'parenting' | 'startups' | 'tech' | 'sports')[] | undefined;
  /** Instructions for the editor, and for engines that support them. */
  instructions?: string | undefined;
  /** XLIFF only: whether segments whose target has the state `translated` are translated again. */
  retranslate?: boolean | undefined;
  /** HTML only: whether the `lang` of the page becomes the target language where it was the source language. */
  set_lang?: boolean | undefined;
  /** Your own translation, used as the draft instead of machine translation. */
  target_text?: string | undefined
};

/** The first status of a machine job is `machine_translate_in_progress`, of any other job `new`. */
export type JobStatus = 'new' | 'machine_translate_in_progress' | 'translating' | 'completed' | 'failed' | 'canceled' | 'accepted' | 'rejected';

export type Language = {
  /** The English name. */
  name: string;
  /** The code for `source_language` and `target_language` of a job. */
  shortname: string
};

export type LanguagePair = {
  lang_pair: {
    source_language: Language;
    target_language: Language
  }
};

export type LanguagePairs = {
  objects: LanguagePair[]
};

/** The body for a key of the legacy dialect. */
export type LegacyJob = {
  /** Number of the job in its account and environment. There may be gaps. */
  order_number: number;
  /** Cents. */
  price: number;
  /** A language code. */
  source_language: string;
  status: LegacyJobStatus;
  /** A language code. */
  target_language: string;
  text: string;
  text_format: TextFormat;
  /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
  uid: string;
  /** The translation, in the format of `text`; present when the job is completed. */
  translatedText?: string | undefined;
  /** The account’s available cents. */
  balance: number;
  /** The username of the account. */
  client: string
};

export type LegacyJobCallback = {
  /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
  uid: string;
  status: LegacyJobStatus;
  /** Human jobs only. */
  order_number?: string | undefined;
  /** The price in cents; human jobs only. */
  price?: string | undefined;
  /** A language code. */
  source_language: string;
  /** A language code. */
  target_language: string;
  text: string;
  text_format: TextFormat;
  translated_text: string
};

export type LegacyJobList = {
  meta: PageMeta;
  objects: LegacyJobListItem[]
};

/** The body for a key of the legacy dialect. */
export type LegacyJobListItem = {
  /** Number of the job in its account and environment. There may be gaps. */
  order_number: number;
  /** Cents. */
  price: number;
  /** A language code. */
  source_language: string;
  status: LegacyJobStatus;
  /** A language code. */
  target_language: string;
  text_format: TextFormat;
  /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
  uid: string
};

/** Like `JobStatus`, except that a completed machine job is `deliver_ok`. */
export type LegacyJobStatus = 'new' | 'machine_translate_in_progress' | 'translating' | 'completed' | 'failed' | 'canceled' | 'accepted' | 'rejected' | 'deliver_ok';

/** Fields that the request did not contain are absent. */
export type MachineJobCreation = {
  origin: 'api';
  /** A language code. */
  source_language: string;
  status: JobStatus;
  /** A language code. */
  target_language: string;
  text: string;
  text_format: TextFormat;
  /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
  uid: string;
  tone?: string | undefined;
  topics?: string[] | undefined;
  /** The external identifier of a brand of the account. */
  brand?: string | undefined;
  /** URL to which the finished job is posted: public, http or https, without credentials. */
  callback_url?: string | undefined
};

/** `null` is the same as absent; unknown fields are ignored. */
export type MachineJobRequest = {
  /** The text to translate, in the format of `text_format`. At most 10 MiB of UTF-8. */
  text: string;
  /** A language code; detected when absent. */
  source_language?: string | undefined;
  /** A language code. */
  target_language: string;
  /** The format of `text`; plain text when absent. */
  text_format?: 'text' | 'html' | 'srt' | 'xliff' | 'vtt' | undefined;
  /** Your name for the job; assigned when absent. Makes a retry safe. */
  uid?: string | undefined;
  /** URL to which the finished job is posted: public, http or https, without credentials. */
  callback_url?: string | undefined;
  /** The external identifier of a brand of the account. */
  brand?: string | undefined;
  tone?: 'Informal' | 'Formal' | undefined;
  /** The older name of `tone`. */
  formality?: 'Informal' | 'Formal' | undefined;
  topics?: ('politics' | 'gossip' | 'sex & relationships' | 'crafts' | 'parenting' | 'startups' | 'tech' | 'sports')[] | undefined;
  /** Instructions for the editor, and for engines that support them. */
  instructions?: string | undefined;
  /** XLIFF only: whether segments whose target has the state `translated` are translated again. */
  retranslate?: boolean | undefined;
  /** HTML only: whether the `lang` of the page becomes the target language where it was the source language. */
  set_lang?: boolean | undefined
};

/** One translation of one segment, without tags. */
export type MemoryEntry = {
  id: string;
  source_language: string;
  target_language: string;
  source: string;
  target: string;
  /** Absent if the entry is for all brands. */
  brand?: string | undefined;
  /** The tone of the job that the entry comes from. */
  tone?: string | undefined;
  /** ISO 8601, in UTC. */
  changed_at: string
};

export type MemoryEntryList = {
  objects: MemoryEntry[];
  /** The value of `after` for the next page; null at the end. */
  next: string | null
};

export type MessageFormat = 'html' | 'text';

export type MessageInChat = {
  chat: Chat;
  message: ChatMessage
};

/** `mt_init`: translation is pending. `deliver_init`: translated, the delivery is pending. `deliver_complete`: translated, and delivered or without a callback URL. `mt_failed`: could not be translated. `deliver_failed`: translated, but the receiver never accepted the callback. */
export type MessageStatus = 'mt_init' | 'deliver_init' | 'deliver_complete' | 'mt_failed' | 'deliver_failed';

/** How long the previous key or secret stays valid. */
export type Overlap = 'now' | '1h' | '24h';

export type OverlapRequest = {
  overlap: Overlap
};

export type PageMeta = {
  limit: number;
  offset: number;
  /** The next page, relative to the server; null at the end. */
  next: string | null;
  /** The previous page; null at the beginning. */
  previous: string | null;
  /** The number of matching entries on all pages. */
  total_count: number
};

export type QueryAnswer = {
  answer: string
};

/** The prices of a job in both tiers. They are not reserved. */
export type Quote = {
  /** The words that a job would be charged for. */
  word_count: number;
  /** The language of the request, or the detected language. */
  source_language: string;
  target_language: string;
  /** Cents. */
  human_price: number;
  /** Cents. */
  machine_price: number;
  /** The matched words of the text, with their share of the price in both tiers; the prices contain them. */
  discounts: Discount[];
  /** The number of sentences, from the beginning of the text, that were compared with similar sentences of the memory. Absent if all were, or if the operator has set no share for similar sentences. */
  counted?: number | undefined
};

export type RejectRequest = {
  /** What is wrong with the translation; editors read it. */
  reason: string
};

export type ReplayRequest = {
  /** A date (its start in UTC), or a date and time with a time zone. */
  since: string
};

export type Replayed = {
  replayed: number
};

export type SkipRequest = {
  seconds: number
};

export type SkippedTime = {
  /** The number of unfinished jobs. */
  jobs: number;
  /** The number of pending deliveries. */
  deliveries: number
};

export type Term = {
  source: string;
  /** Absent if the term is not translated. */
  target?: string | undefined;
  case_sensitive?: boolean | undefined;
  /** Whether `target` must not be used as the translation. */
  forbidden?: boolean | undefined;
  do_not_translate?: boolean | undefined;
  note?: string | undefined
};

export type TermList = {
  /** The external identifier of the brand; absent if there is none. */
  brand?: string | undefined;
  /** The tone of the brand for the target language. */
  tone?: string | undefined;
  /** The number of terms that were found. */
  total_count: number;
  /** The first of them. */
  objects: Term[]
};

export type TestEvent = {
  type: 'test';
  /** The username of the account. */
  account: string;
  environment: 'production' | 'sandbox';
  created_at: string
};

export type TestEventRequest = {
  /** A public http or https URL without credentials. */
  url: string
};

export type TextFormat = 'text' | 'html' | 'srt' | 'xliff' | 'vtt';

export type Tone = {
  tone: {
    /** The value of `tone` in a request. */
    name: string;
    /** The meaning of the value, in a sentence. */
    description: string
  }
};

export type Tones = {
  objects: Tone[]
};

export type Topic = {
  topic: {
    /** A value of `topics` in a request. */
    name: string
  }
};

export type Topics = {
  objects: Topic[]
};

/** Given properties replace those of the job. */
export type UpgradeRequest = {
  status: 'upgrade';
  properties?: {
    /** URL to which the finished job is posted: public, http or https, without credentials. */
    callback_url?: string | undefined;
    /** The external identifier of a brand of the account. */
    brand?: string | undefined;
    tone?: 'Informal' | 'Formal' | undefined;
    /** The older name of `tone`. */
    formality?: 'Informal' | 'Formal' | undefined;
    topics?: ('politics' | 'gossip' | 'sex & relationships' | 'crafts' | 'parenting' | 'startups' | 'tech' | 'sports')[] | undefined;
    /** Instructions for the editor, and for engines that support them. */
    instructions?: string | undefined
  } | null | undefined
};

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

export type WebhookEndpointRequest = {
  /** A public http or https URL without credentials. */
  url: string;
  /** The types of events that the endpoint gets; null for all, also those that later versions add. */
  events?: EndpointEventType[] | null | undefined;
  /** A text of one line for people. */
  description?: string | undefined
};

export type WordCount = {
  word_count: number
};

/** `null` is the same as absent; unknown fields are ignored. */
export type WordCountRequest = {
  text: string;
  /** The format of `text`; plain text when absent. */
  text_format?: 'text' | 'html' | 'srt' | 'xliff' | 'vtt' | undefined;
  /** The source language. Sentences in other languages are then not counted, as in a job. Without it they are counted. */
  source_language?: string | undefined
};

/** What an operation is sent and answers. */
export interface Operations {
  /** List jobs, oldest first */
  listJobs: {
    path: undefined;
    query: {
      /** The page size; 0 means 1000. */
      limit?: number | undefined;
      /** The number of entries to skip. */
      offset?: number | undefined;
      /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
      uid?: string | undefined;
      uid__startswith?: string | undefined;
      uid__endswith?: string | undefined;
      /** Use at least three characters; shorter parts are slow. */
      uid__contains?: string | undefined;
      /** `deliver_ok` means `completed` for a legacy key; other keys cannot use it. */
      status?: 'new' | 'translating' | 'completed' | 'failed' | 'canceled' | 'accepted' | 'rejected' | 'deliver_ok' | undefined;
      /** A language code. */
      source_language?: string | undefined;
      /** Language codes: a comma list, a JSON array, or the parameter repeated. */
      source_language__in?: string | undefined;
      /** Language codes: a comma list, a JSON array, or the parameter repeated. */
      source_language__nin?: string | undefined;
      /** A language code. */
      source_language__ne?: string | undefined;
      /** A language code. */
      target_language?: string | undefined;
      /** Language codes: a comma list, a JSON array, or the parameter repeated. */
      target_language__in?: string | undefined;
      /** Language codes: a comma list, a JSON array, or the parameter repeated. */
      target_language__nin?: string | undefined;
      /** A language code. */
      target_language__ne?: string | undefined;
      /** A time in ISO 8601; without a time zone it is UTC. */
      created__gte?: string | undefined;
      /** A time in ISO 8601; without a time zone it is UTC. */
      created__lt?: string | undefined;
      order_by?: 'created' | '-created' | undefined;
      /** For many pages: the page begins after this uid, and `next` has the following one. Empty for the first page; not with `offset`. */
      after?: string | undefined
    };
    body: undefined;
    answer: JobList | LegacyJobList
  };
  /** Create a job that an editor corrects */
  createJob: {
    path: undefined;
    query: undefined;
    body: JobRequest;
    answer: JobCreation
  };
  /** Create up to 1000 jobs, all or none */
  createJobs: {
    path: undefined;
    query: undefined;
    body: BulkRequest;
    answer: BulkCreation
  };
  /** Read a job */
  getJob: {
    path: {
      /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
      uid: string
    };
    query: undefined;
    body: undefined;
    answer: Job | LegacyJob
  };
  /** Cancel a job that is not finished */
  cancelJob: {
    path: {
      /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
      uid: string
    };
    query: undefined;
    body: undefined;
    answer: undefined
  };
  /** Accept a completed job */
  acceptJob: {
    path: {
      /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
      uid: string
    };
    query: undefined;
    body: undefined;
    answer: Job | LegacyJob
  };
  /** Send a completed job back to its editors */
  rejectJob: {
    path: {
      /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
      uid: string
    };
    query: undefined;
    body: RejectRequest;
    answer: Job | LegacyJob
  };
  /** List jobs, oldest first */
  listMachineJobs: {
    path: undefined;
    query: {
      /** The page size; 0 means 1000. */
      limit?: number | undefined;
      /** The number of entries to skip. */
      offset?: number | undefined;
      /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
      uid?: string | undefined;
      uid__startswith?: string | undefined;
      uid__endswith?: string | undefined;
      /** Use at least three characters; shorter parts are slow. */
      uid__contains?: string | undefined;
      /** `deliver_ok` means `completed` for a legacy key; other keys cannot use it. */
      status?: 'new' | 'machine_translate_in_progress' | 'translating' | 'completed' | 'failed' | 'canceled' | 'deliver_ok' | undefined;
      /** A language code. */
      source_language?: string | undefined;
      /** Language codes: a comma list, a JSON array, or the parameter repeated. */
      source_language__in?: string | undefined;
      /** Language codes: a comma list, a JSON array, or the parameter repeated. */
      source_language__nin?: string | undefined;
      /** A language code. */
      source_language__ne?: string | undefined;
      /** A language code. */
      target_language?: string | undefined;
      /** Language codes: a comma list, a JSON array, or the parameter repeated. */
      target_language__in?: string | undefined;
      /** Language codes: a comma list, a JSON array, or the parameter repeated. */
      target_language__nin?: string | undefined;
      /** A language code. */
      target_language__ne?: string | undefined;
      /** A time in ISO 8601; without a time zone it is UTC. */
      created__gte?: string | undefined;
      /** A time in ISO 8601; without a time zone it is UTC. */
      created__lt?: string | undefined;
      order_by?: 'created' | '-created' | undefined;
      /** For many pages: the page begins after this uid, and `next` has the following one. Empty for the first page; not with `offset`. */
      after?: string | undefined
    };
    body: undefined;
    answer: JobList | LegacyJobList
  };
  /** Create a machine translation job */
  createMachineJob: {
    path: undefined;
    query: undefined;
    body: MachineJobRequest;
    answer: MachineJobCreation
  };
  /** Read a job */
  getMachineJob: {
    path: {
      /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
      uid: string
    };
    query: undefined;
    body: undefined;
    answer: Job | LegacyJob
  };
  /** Upgrade a completed machine job to a human one */
  upgradeMachineJob: {
    path: {
      /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
      uid: string
    };
    query: undefined;
    body: UpgradeRequest;
    answer: JobCreation
  };
  /** Cancel a job that is not finished */
  cancelMachineJob: {
    path: {
      /** The name of the job, unique in its account and environment. `.` and `..` are not allowed. */
      uid: string
    };
    query: undefined;
    body: undefined;
    answer: undefined
  };
  /** List the tones */
  listTones: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Tones
  };
  /** List the topics */
  listTopics: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Topics
  };
  /** Look up terms of a glossary */
  listTerms: {
    path: undefined;
    query: {
      target_language: string;
      /** The external identifier of a brand; the account’s default brand when absent. */
      brand?: string | undefined;
      /** A part of the source or the target, in any letter case. Without it, all terms. */
      q?: string | undefined;
      /** The maximum number of terms. */
      limit?: number | undefined
    };
    body: undefined;
    answer: TermList
  };
  /** Search the translation memory */
  searchMemory: {
    path: undefined;
    query: {
      /** Words in any letter case and order; an entry must have all of them. Without it, all entries. */
      q?: string | undefined;
      source_language?: string | undefined;
      target_language?: string | undefined;
      /** Only entries of this brand. */
      brand?: string | undefined;
      /** The `next` of the previous page. */
      after?: string | undefined;
      limit?: number | undefined
    };
    body: undefined;
    answer: MemoryEntryList
  };
  /** Count the words that a job would be charged for */
  countWords: {
    path: undefined;
    query: undefined;
    body: WordCountRequest;
    answer: WordCount
  };
  /** Find out the price of a job */
  quoteJob: {
    path: undefined;
    query: undefined;
    body: JobRequest;
    answer: Quote
  };
  /** Skip waiting times of the sandbox */
  skipSandboxTime: {
    path: undefined;
    query: undefined;
    body: SkipRequest;
    answer: SkippedTime
  };
  /** List the offered language pairs */
  listLanguagePairs: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: LanguagePairs
  };
  /** Read the calling account */
  getAccount: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: AccountList
  };
  /** List the questions of editors */
  listQueries: {
    path: undefined;
    query: {
      /** A job: lists its queries of every status but withdrawn. */
      uid?: string | undefined
    };
    body: undefined;
    answer: JobQueries
  };
  /** Answer a question of an editor */
  answerQuery: {
    path: {
      query: string
    };
    query: undefined;
    body: QueryAnswer;
    answer: JobQueries
  };
  /** List deliveries, newest first */
  listDeliveries: {
    path: undefined;
    query: {
      status?: 'pending' | 'delivered' | 'dead' | undefined;
      /** The maximum number of objects. */
      limit?: number | undefined;
      /** The `next` of the previous page. */
      after?: string | undefined
    };
    body: undefined;
    answer: DeliveryList
  };
  /** Replay all deliveries that died since a moment */
  replayDeliveries: {
    path: undefined;
    query: undefined;
    body: ReplayRequest;
    answer: Replayed
  };
  /** Read a delivery with its attempts */
  getDelivery: {
    path: {
      /** The id of the delivery, sent as `webhook-id`. */
      delivery_id: string
    };
    query: undefined;
    body: undefined;
    answer: DeliveryDetail
  };
  /** Replay a delivery that has ended */
  replayDelivery: {
    path: {
      /** The id of the delivery, sent as `webhook-id`. */
      delivery_id: string
    };
    query: undefined;
    body: undefined;
    answer: Delivery
  };
  /** Send a signed test event to a URL */
  sendTestEvent: {
    path: undefined;
    query: undefined;
    body: TestEventRequest;
    answer: Delivery
  };
  /** List events in an order that never changes */
  listEvents: {
    path: undefined;
    query: {
      /** The `next` of the previous page; without it, the feed starts at the beginning. */
      after?: string | undefined;
      /** The maximum number of objects. */
      limit?: number | undefined
    };
    body: undefined;
    answer: EventPage
  };
  /** List webhook endpoints */
  listWebhookEndpoints: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: WebhookEndpointList
  };
  /** Register a webhook endpoint */
  createWebhookEndpoint: {
    path: undefined;
    query: undefined;
    body: WebhookEndpointRequest;
    answer: CreatedWebhookEndpoint
  };
  /** Read a webhook endpoint */
  getWebhookEndpoint: {
    path: {
      endpoint_id: string
    };
    query: undefined;
    body: undefined;
    answer: WebhookEndpoint
  };
  /** Change, disable or enable a webhook endpoint */
  changeWebhookEndpoint: {
    path: {
      endpoint_id: string
    };
    query: undefined;
    body: WebhookEndpointChange;
    answer: WebhookEndpoint
  };
  /** Delete a webhook endpoint */
  deleteWebhookEndpoint: {
    path: {
      endpoint_id: string
    };
    query: undefined;
    body: undefined;
    answer: undefined
  };
  /** Create a new secret of a webhook endpoint */
  rollWebhookEndpointSecret: {
    path: {
      endpoint_id: string
    };
    query: undefined;
    body: OverlapRequest;
    answer: EndpointSecret
  };
  /** Create a message and its chat */
  createChatMessage: {
    path: undefined;
    query: undefined;
    body: ChatMessageRequest;
    answer: MessageInChat
  };
  /** Read a message */
  getChatMessage: {
    path: {
      chat_id: string;
      message_id: string
    };
    query: undefined;
    body: undefined;
    answer: MessageInChat
  };
  /** Create a chat without a message */
  createChat: {
    path: undefined;
    query: undefined;
    body: ChatRequest;
    answer: CreatedChat
  };
  /** List the messages of a chat in order */
  listChatMessages: {
    path: {
      chat_id: string
    };
    query: {
      limit?: number | undefined;
      /** The position of the first message to return, from 1. */
      index?: number | undefined
    };
    body: undefined;
    answer: ChatMessageList
  }
}

/** Where each operation is. */
export const OPERATIONS = {
  listJobs: ['GET', '/tapi/v2/translation/'],
  createJob: ['POST', '/tapi/v2/translation/'],
  createJobs: ['PATCH', '/tapi/v2/translation/'],
  getJob: ['GET', '/tapi/v2/translation/{uid}/'],
  cancelJob: ['DELETE', '/tapi/v2/translation/{uid}/'],
  acceptJob: ['POST', '/tapi/v2/translation/{uid}/accept/'],
  rejectJob: ['POST', '/tapi/v2/translation/{uid}/reject/'],
  listMachineJobs: ['GET', '/tapi/v2/mt_translation/'],
  createMachineJob: ['POST', '/tapi/v2/mt_translation/'],
  getMachineJob: ['GET', '/tapi/v2/mt_translation/{uid}/'],
  upgradeMachineJob: ['PATCH', '/tapi/v2/mt_translation/{uid}/'],
  cancelMachineJob: ['DELETE', '/tapi/v2/mt_translation/{uid}/'],
  listTones: ['GET', '/tapi/v2/tone/'],
  listTopics: ['GET', '/tapi/v2/topic/'],
  listTerms: ['GET', '/api/v1/terms/'],
  searchMemory: ['GET', '/api/v1/memory/'],
  countWords: ['POST', '/tapi/v2/wordcount/'],
  quoteJob: ['POST', '/api/v1/quote/'],
  skipSandboxTime: ['POST', '/api/v1/clock/'],
  listLanguagePairs: ['GET', '/tapi/v2/language_pair/'],
  getAccount: ['GET', '/tapi/v2/account/'],
  listQueries: ['GET', '/api/v1/queries/'],
  answerQuery: ['POST', '/api/v1/queries/{query}/answer/'],
  listDeliveries: ['GET', '/api/v1/deliveries/'],
  replayDeliveries: ['POST', '/api/v1/deliveries/replay/'],
  getDelivery: ['GET', '/api/v1/deliveries/{delivery_id}/'],
  replayDelivery: ['POST', '/api/v1/deliveries/{delivery_id}/replay/'],
  sendTestEvent: ['POST', '/api/v1/test-event/'],
  listEvents: ['GET', '/api/v1/events/'],
  listWebhookEndpoints: ['GET', '/api/v1/webhook-endpoints/'],
  createWebhookEndpoint: ['POST', '/api/v1/webhook-endpoints/'],
  getWebhookEndpoint: ['GET', '/api/v1/webhook-endpoints/{endpoint_id}/'],
  changeWebhookEndpoint: ['PATCH', '/api/v1/webhook-endpoints/{endpoint_id}/'],
  deleteWebhookEndpoint: ['DELETE', '/api/v1/webhook-endpoints/{endpoint_id}/'],
  rollWebhookEndpointSecret: ['POST', '/api/v1/webhook-endpoints/{endpoint_id}/roll/'],
  createChatMessage: ['POST', '/v2/chats/messages'],
  getChatMessage: ['GET', '/v2/chats/{chat_id}/messages/{message_id}'],
  createChat: ['POST', '/chats'],
  listChatMessages: ['GET', '/chats/{chat_id}/messages'],
} as const;
