// Written by `npm run client-types` from the description of the interface. Not to be edited.

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

export type Queue = {
  /** In the order in which they should be taken; of one customer at most some at a time. */
  open: QueueTask[];
  /** How many this editor could take, shown or not. */
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
  origin: 'machine' | 'memory' | 'supplied' | 'none';
  /** What made it, such as `apertium:eng-spa`. */
  route: string | null;
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
    to: number
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

export type Task = {
  task: string;
  kind: TaskKind;
  status: TaskStatus;
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
    /** Seconds until it may be tried again. */
    retry_after?: number | undefined
  }
};

export type WebErrorCode = 'invalid_request' | 'unauthorized' | 'not_signed_in' | 'wrong_sign_in' | 'insufficient_balance' | 'invalid_subscription' | 'read_only_key' | 'chat_not_allowed' | 'cross_site' | 'not_found' | 'method_not_allowed' | 'request_timeout' | 'stale_lease' | 'conflict' | 'unconfirmed' | 'job_canceled' | 'nothing_waits' | 'task_taken' | 'too_many_claims' | 'claims_paused' | 'too_large' | 'checks_failed' | 'unsupported_type' | 'too_many_attempts' | 'server_error' | 'unavailable';

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
  }
}

/** Where each operation is. */
export const OPERATIONS = {
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
} as const;
