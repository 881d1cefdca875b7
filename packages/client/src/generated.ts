// Written by `npm run client-types` from the description of the interface. Not to be edited.

export type Account = {
  username: string;
  /** Empty where none is known. */
  email: string;
  /** What the account can spend in this environment, in cents, before its credit. */
  balance: number
};

export type AccountList = {
  objects: ({
    account: Account
  })[]
};

export type BulkCreation = {
  /** In the order of the request. */
  objects: JobCreation[]
};

export type BulkRequest = {
  objects: JobRequest[]
};

export type Chat = {
  id: string;
  /** The chat’s identifier on your side. */
  external_id: string;
  /** Who serves the chat; should be an e-mail address. */
  agent_external_id: string | null;
  /** Identifier of a brand on your side. */
  brand: string | null;
  creation_date: string
};

export type ChatError = {
  error: {
    code: 'validation_error' | 'invalid_subscription' | 'server_error';
    /** For `validation_error`, one line for each wrong field. */
    message: string
  }
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

/** `null` is the same as absent; unknown fields are ignored. */
export type ChatMessageRequest = {
  /** A new one creates a chat. */
  chat_external_id: string;
  /** Unique in the chat; makes repeating safe. */
  external_id: string;
  /** Shortname of a language. */
  source_language: string;
  /** Shortname of a language. */
  target_language: string;
  /** At least 6,000 characters are taken; by default 20,000. */
  text: string;
  text_format: MessageFormat;
  /** Where the translation is posted. A public http or https address without credentials. */
  callback_url?: string | undefined;
  /** Kept with a new chat. */
  brand?: string | undefined;
  /** Kept with a new chat. */
  agent_external_id?: string | undefined;
  /** `true`: written by a customer. */
  is_inbound?: boolean | undefined;
  /** Who wrote it. */
  author_external_id?: string | undefined
};

/** `null` is the same as absent; unknown fields are ignored. */
export type ChatRequest = {
  /** Assigned when absent. */
  external_id?: string | undefined;
  /** Identifier of a brand on your side. */
  brand?: string | undefined;
  /** Who serves the chat. */
  agent_external_id?: string | undefined
};

export type CreatedChat = {
  chat_id: string;
  created_at: string;
  external_id: string;
  /** Who serves the chat. */
  agent_external_id: string | null
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

/** Every refusal of the job interface. Told apart by status. */
export type ErrorBody = {
  /** For 400, one line for each wrong field: `field: reason`. The wording may change. */
  error: string
};

export type Event = {
  /** Of the event and of its delivery: its `webhook-id`. */
  id: string;
  type: EventType;
  created_at: string;
  job?: EventJob | undefined;
  message?: EventMessage | undefined;
  delivery?: EventDelivery | undefined
};

/** Not there where there was no address to post to. */
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
  /** The cursor to go on from. Keep it; it does not expire. */
  next: string;
  /** Whether there may be more already. */
  more: boolean
};

export type EventType = 'job.completed' | 'job.failed' | 'job.canceled' | 'message.translated' | 'message.failed' | 'message.corrected' | 'test';

export type Job = {
  /** Cents. */
  price: number;
  /** Shortname of a language. */
  source_language: string;
  status: JobStatus;
  /** Shortname of a language. */
  target_language: string;
  text: string;
  text_format: TextFormat;
  /** Names the job within its account and environment. `.` and `..` are no uids. */
  uid: string;
  /** No editor came in time: the result is a machine’s, and nothing was charged. As the brand says. */
  fallback?: 'machine' | undefined;
  /** The translation, in the format of `text`; there once completed. */
  translated_text?: string | undefined;
  /** Why a failed job was given up. */
  failure?: string | undefined;
  /** What the account can spend, in cents. */
  balance: number;
  /** The username of the account. */
  client: string
};

/** A job that has completed or failed. */
export type JobCallback = {
  /** Counts the account’s jobs in this environment; a number may be left out. */
  order_number: number;
  /** Cents. */
  price: number;
  /** Shortname of a language. */
  source_language: string;
  status: JobStatus;
  /** Shortname of a language. */
  target_language: string;
  text: string;
  text_format: TextFormat;
  /** Names the job within its account and environment. `.` and `..` are no uids. */
  uid: string;
  /** No editor came in time: the result is a machine’s, and nothing was charged. As the brand says. */
  fallback?: 'machine' | undefined;
  /** The translation, in the format of `text`; there once completed. */
  translated_text?: string | undefined;
  /** Why a failed job was given up. */
  failure?: string | undefined
};

/** Fields that were not supplied are not there. */
export type JobCreation = {
  /** Counts the account’s jobs in this environment; a number may be left out. */
  order_number: number;
  /** Cents. */
  price: number;
  /** Shortname of a language. */
  source_language: string;
  status: JobStatus;
  /** Shortname of a language. */
  target_language: string;
  text: string;
  text_format: TextFormat;
  /** Names the job within its account and environment. `.` and `..` are no uids. */
  uid: string;
  tone?: string | undefined;
  topics?: string[] | undefined;
  /** External identifier of a brand of the account. */
  brand?: string | undefined;
  /** Where the finished job is posted. A public http or https address without credentials. */
  callback_url?: string | undefined;
  /** What the account can spend, in cents. */
  balance: number;
  /** The username of the account. */
  client: string
};

export type JobList = {
  meta: PageMeta;
  objects: JobListItem[]
};

export type JobListItem = {
  /** Counts the account’s jobs in this environment; a number may be left out. */
  order_number: number;
  /** Cents. */
  price: number;
  /** Shortname of a language. */
  source_language: string;
  status: JobStatus;
  /** Shortname of a language. */
  target_language: string;
  text_format: TextFormat;
  /** Names the job within its account and environment. `.` and `..` are no uids. */
  uid: string
};

/** `null` is the same as absent; unknown fields are ignored. */
export type JobRequest = {
  /** What to translate, in the format of `text_format`. At most 10 MiB of UTF-8. */
  text: string;
  /** Shortname of a language; detected when absent. */
  source_language?: string | undefined;
  /** Shortname of a language. */
  target_language: string;
  text_format?: 'text' | 'html' | 'srt' | 'xliff' | undefined;
  /** Your own name for the job; assigned when absent. With it, retrying is safe. */
  uid?: string | undefined;
  /** Where the finished job is posted. A public http or https address without credentials. */
  callback_url?: string | undefined;
  /** External identifier of a brand of the account. */
  brand?: string | undefined;
  tone?: string | undefined;
  topics?: string[] | undefined;
  /** For the editor, and for engines that follow it. */
  instructions?: string | undefined;
  /** A translation of your own, to be edited instead of a machine’s. */
  target_text?: string | undefined
};

/** A machine-only job begins as `machine_translate_in_progress`, any other as `new`. */
export type JobStatus = 'new' | 'machine_translate_in_progress' | 'translating' | 'completed' | 'failed' | 'canceled' | 'accepted' | 'rejected';

export type Language = {
  /** In English. */
  name: string;
  /** What `source_language` and `target_language` of a job take. */
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

/** What a key of the legacy dialect reads. */
export type LegacyJob = {
  /** Cents. */
  price: number;
  /** Shortname of a language. */
  source_language: string;
  status: LegacyJobStatus;
  /** Shortname of a language. */
  target_language: string;
  text: string;
  text_format: TextFormat;
  /** Names the job within its account and environment. `.` and `..` are no uids. */
  uid: string;
  /** The translation, in the format of `text`; there once completed. */
  translatedText?: string | undefined;
  /** What the account can spend, in cents. */
  balance: number;
  /** The username of the account. */
  client: string
};

export type LegacyJobCallback = {
  /** Names the job within its account and environment. `.` and `..` are no uids. */
  uid: string;
  status: LegacyJobStatus;
  /** Of jobs that people edit. */
  order_number?: string | undefined;
  /** Cents. Of jobs that people edit. */
  price?: string | undefined;
  /** Shortname of a language. */
  source_language: string;
  /** Shortname of a language. */
  target_language: string;
  text: string;
  text_format: TextFormat;
  translated_text: string
};

export type LegacyJobList = {
  meta: PageMeta;
  objects: LegacyJobListItem[]
};

/** What a key of the legacy dialect reads. */
export type LegacyJobListItem = {
  /** Counts the account’s jobs in this environment; a number may be left out. */
  order_number: number;
  /** Cents. */
  price: number;
  /** Shortname of a language. */
  source_language: string;
  status: LegacyJobStatus;
  /** Shortname of a language. */
  target_language: string;
  text_format: TextFormat;
  /** Names the job within its account and environment. `.` and `..` are no uids. */
  uid: string
};

/** As `JobStatus`; a finished machine-only job is `deliver_ok`. */
export type LegacyJobStatus = 'new' | 'machine_translate_in_progress' | 'translating' | 'completed' | 'failed' | 'canceled' | 'accepted' | 'rejected' | 'deliver_ok';

/** Fields that were not supplied are not there. */
export type MachineJobCreation = {
  origin: 'api';
  /** Shortname of a language. */
  source_language: string;
  status: JobStatus;
  /** Shortname of a language. */
  target_language: string;
  text: string;
  text_format: TextFormat;
  /** Names the job within its account and environment. `.` and `..` are no uids. */
  uid: string;
  tone?: string | undefined;
  topics?: string[] | undefined;
  /** External identifier of a brand of the account. */
  brand?: string | undefined;
  /** Where the finished job is posted. A public http or https address without credentials. */
  callback_url?: string | undefined
};

/** `null` is the same as absent; unknown fields are ignored. */
export type MachineJobRequest = {
  /** What to translate, in the format of `text_format`. At most 10 MiB of UTF-8. */
  text: string;
  /** Shortname of a language; detected when absent. */
  source_language?: string | undefined;
  /** Shortname of a language. */
  target_language: string;
  text_format?: 'text' | 'html' | 'srt' | 'xliff' | undefined;
  /** Your own name for the job; assigned when absent. With it, retrying is safe. */
  uid?: string | undefined;
  /** Where the finished job is posted. A public http or https address without credentials. */
  callback_url?: string | undefined;
  /** External identifier of a brand of the account. */
  brand?: string | undefined;
  tone?: string | undefined;
  topics?: string[] | undefined;
  /** For the editor, and for engines that follow it. */
  instructions?: string | undefined
};

export type MessageFormat = 'html' | 'text';

export type MessageInChat = {
  chat: Chat;
  message: ChatMessage
};

/** `mt_init`: being translated. `deliver_init`: translated, the delivery is pending. `deliver_complete`: translated, and delivered or nobody to deliver to. `mt_failed`: could not be translated. `deliver_failed`: translated, but the receiver never took it. */
export type MessageStatus = 'mt_init' | 'deliver_init' | 'deliver_complete' | 'mt_failed' | 'deliver_failed';

export type PageMeta = {
  limit: number;
  offset: number;
  /** The next page, relative to the server; null at the end. */
  next: string | null;
  /** The page before; null at the beginning. */
  previous: string | null;
  /** All that match, on every page together. */
  total_count: number
};

export type RejectRequest = {
  /** What is wrong: the editors read it. */
  reason: string
};

export type ReplayRequest = {
  /** A day (its first moment in UTC), or a moment with its time zone. */
  since: string
};

export type Replayed = {
  replayed: number
};

export type TestEvent = {
  type: 'test';
  /** The username of the account. */
  account: string;
  environment: 'production' | 'sandbox';
  created_at: string
};

export type TestEventRequest = {
  /** A public http or https address without credentials. */
  url: string
};

export type TextFormat = 'text' | 'html' | 'srt' | 'xliff';

export type Tone = {
  tone: {
    /** What a request names as `tone`. */
    name: string;
    /** What it means, in a sentence. */
    description: string
  }
};

export type Tones = {
  objects: Tone[]
};

export type Topic = {
  topic: {
    /** What a request names in `topics`. */
    name: string
  }
};

export type Topics = {
  objects: Topic[]
};

/** What is given takes the place of what the job was created with. */
export type UpgradeRequest = {
  status: 'upgrade';
  properties?: {
    /** Where the finished job is posted. A public http or https address without credentials. */
    callback_url?: string | undefined;
    /** External identifier of a brand of the account. */
    brand?: string | undefined;
    tone?: string | undefined;
    topics?: string[] | undefined;
    /** For the editor, and for engines that follow it. */
    instructions?: string | undefined
  } | null | undefined
};

export type WordCount = {
  word_count: number
};

/** `null` is the same as absent; unknown fields are ignored. */
export type WordCountRequest = {
  text: string;
  text_format?: 'text' | 'html' | 'srt' | 'xliff' | undefined;
  /** Sentences in other languages are left out as in a job; without it they are counted. */
  source_language?: string | undefined
};

/** What an operation is sent and answers. */
export interface Operations {
  /** List jobs, oldest first */
  listJobs: {
    path: undefined;
    query: {
      /** How many at most; 0 is 1000. */
      limit?: number | undefined;
      /** How many to pass over. */
      offset?: number | undefined;
      /** Names the job within its account and environment. `.` and `..` are no uids. */
      uid?: string | undefined;
      uid__startswith?: string | undefined;
      uid__endswith?: string | undefined;
      /** At best three characters or more: fewer are looked for in every job. */
      uid__contains?: string | undefined;
      /** `deliver_ok` is `completed` for a legacy key, and refused to others. */
      status?: 'new' | 'translating' | 'completed' | 'failed' | 'canceled' | 'accepted' | 'rejected' | 'deliver_ok' | undefined;
      /** Shortname of a language. */
      source_language?: string | undefined;
      /** Shortnames: a comma list, a JSON array, or the parameter repeated. */
      source_language__in?: string | undefined;
      /** Shortnames: a comma list, a JSON array, or the parameter repeated. */
      source_language__nin?: string | undefined;
      /** Shortname of a language. */
      source_language__ne?: string | undefined;
      /** Shortname of a language. */
      target_language?: string | undefined;
      /** Shortnames: a comma list, a JSON array, or the parameter repeated. */
      target_language__in?: string | undefined;
      /** Shortnames: a comma list, a JSON array, or the parameter repeated. */
      target_language__nin?: string | undefined;
      /** Shortname of a language. */
      target_language__ne?: string | undefined;
      /** ISO 8601; of UTC where it names no zone. */
      created__gte?: string | undefined;
      /** ISO 8601; of UTC where it names no zone. */
      created__lt?: string | undefined;
      order_by?: 'created' | '-created' | undefined;
      /** For many pages: each begins after this uid, and `next` carries on. Empty for the first; not with `offset`. */
      after?: string | undefined
    };
    body: undefined;
    answer: JobList | LegacyJobList
  };
  /** Create a job that a human edits after the machine */
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
      /** Names the job within its account and environment. `.` and `..` are no uids. */
      uid: string
    };
    query: undefined;
    body: undefined;
    answer: Job | LegacyJob
  };
  /** Cancel a job that is not finished */
  cancelJob: {
    path: {
      /** Names the job within its account and environment. `.` and `..` are no uids. */
      uid: string
    };
    query: undefined;
    body: undefined;
    answer: undefined
  };
  /** Accept a completed job */
  acceptJob: {
    path: {
      /** Names the job within its account and environment. `.` and `..` are no uids. */
      uid: string
    };
    query: undefined;
    body: undefined;
    answer: Job | LegacyJob
  };
  /** Send a completed job back to its editors */
  rejectJob: {
    path: {
      /** Names the job within its account and environment. `.` and `..` are no uids. */
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
      /** How many at most; 0 is 1000. */
      limit?: number | undefined;
      /** How many to pass over. */
      offset?: number | undefined;
      /** Names the job within its account and environment. `.` and `..` are no uids. */
      uid?: string | undefined;
      uid__startswith?: string | undefined;
      uid__endswith?: string | undefined;
      /** At best three characters or more: fewer are looked for in every job. */
      uid__contains?: string | undefined;
      /** `deliver_ok` is `completed` for a legacy key, and refused to others. */
      status?: 'new' | 'machine_translate_in_progress' | 'translating' | 'completed' | 'failed' | 'canceled' | 'deliver_ok' | undefined;
      /** Shortname of a language. */
      source_language?: string | undefined;
      /** Shortnames: a comma list, a JSON array, or the parameter repeated. */
      source_language__in?: string | undefined;
      /** Shortnames: a comma list, a JSON array, or the parameter repeated. */
      source_language__nin?: string | undefined;
      /** Shortname of a language. */
      source_language__ne?: string | undefined;
      /** Shortname of a language. */
      target_language?: string | undefined;
      /** Shortnames: a comma list, a JSON array, or the parameter repeated. */
      target_language__in?: string | undefined;
      /** Shortnames: a comma list, a JSON array, or the parameter repeated. */
      target_language__nin?: string | undefined;
      /** Shortname of a language. */
      target_language__ne?: string | undefined;
      /** ISO 8601; of UTC where it names no zone. */
      created__gte?: string | undefined;
      /** ISO 8601; of UTC where it names no zone. */
      created__lt?: string | undefined;
      order_by?: 'created' | '-created' | undefined;
      /** For many pages: each begins after this uid, and `next` carries on. Empty for the first; not with `offset`. */
      after?: string | undefined
    };
    body: undefined;
    answer: JobList | LegacyJobList
  };
  /** Create a job that the machine does alone */
  createMachineJob: {
    path: undefined;
    query: undefined;
    body: MachineJobRequest;
    answer: MachineJobCreation
  };
  /** Read a job */
  getMachineJob: {
    path: {
      /** Names the job within its account and environment. `.` and `..` are no uids. */
      uid: string
    };
    query: undefined;
    body: undefined;
    answer: Job | LegacyJob
  };
  /** Let a human edit a completed machine job */
  upgradeMachineJob: {
    path: {
      /** Names the job within its account and environment. `.` and `..` are no uids. */
      uid: string
    };
    query: undefined;
    body: UpgradeRequest;
    answer: JobCreation
  };
  /** Cancel a job that is not finished */
  cancelMachineJob: {
    path: {
      /** Names the job within its account and environment. `.` and `..` are no uids. */
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
  /** Count the words that a job of a text is paid by */
  countWords: {
    path: undefined;
    query: undefined;
    body: WordCountRequest;
    answer: WordCount
  };
  /** List the language pairs that jobs can have */
  listLanguagePairs: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: LanguagePairs
  };
  /** Read the account that is calling */
  getAccount: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: AccountList
  };
  /** List deliveries, newest first */
  listDeliveries: {
    path: undefined;
    query: {
      /** `pending` until the receiver says 2xx, `dead` after 410 or 72 hours. */
      status?: 'pending' | 'delivered' | 'dead' | undefined;
      /** The `next` of the page before. */
      after?: string | undefined;
      /** How many at most. */
      limit?: number | undefined
    };
    body: undefined;
    answer: DeliveryList
  };
  /** Send all deliveries again that died since a moment */
  replayDeliveries: {
    path: undefined;
    query: undefined;
    body: ReplayRequest;
    answer: Replayed
  };
  /** Read a delivery with its attempts */
  getDelivery: {
    path: {
      /** Of the event and of its delivery: its `webhook-id`. */
      delivery_id: string
    };
    query: undefined;
    body: undefined;
    answer: DeliveryDetail
  };
  /** Send a delivery again that has ended */
  replayDelivery: {
    path: {
      /** Of the event and of its delivery: its `webhook-id`. */
      delivery_id: string
    };
    query: undefined;
    body: undefined;
    answer: Delivery
  };
  /** Send a signed test event to an address */
  sendTestEvent: {
    path: undefined;
    query: undefined;
    body: TestEventRequest;
    answer: Delivery
  };
  /** Read what happened, in an order that never changes */
  listEvents: {
    path: undefined;
    query: {
      /** The `next` of the page before; absent: from the beginning. */
      after?: string | undefined;
      /** How many at most. */
      limit?: number | undefined
    };
    body: undefined;
    answer: EventPage
  };
  /** Create a message, and its chat */
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
  /** List the messages of a chat, in their order */
  listChatMessages: {
    path: {
      chat_id: string
    };
    query: {
      limit?: number | undefined;
      /** Where the results start; the first message is 1. */
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
  countWords: ['POST', '/tapi/v2/wordcount/'],
  listLanguagePairs: ['GET', '/tapi/v2/language_pair/'],
  getAccount: ['GET', '/tapi/v2/account/'],
  listDeliveries: ['GET', '/api/v1/deliveries/'],
  replayDeliveries: ['POST', '/api/v1/deliveries/replay/'],
  getDelivery: ['GET', '/api/v1/deliveries/{delivery_id}/'],
  replayDelivery: ['POST', '/api/v1/deliveries/{delivery_id}/replay/'],
  sendTestEvent: ['POST', '/api/v1/test-event/'],
  listEvents: ['GET', '/api/v1/events/'],
  createChatMessage: ['POST', '/v2/chats/messages'],
  getChatMessage: ['GET', '/v2/chats/{chat_id}/messages/{message_id}'],
  createChat: ['POST', '/chats'],
  listChatMessages: ['GET', '/chats/{chat_id}/messages'],
} as const;
