/** What a crash run saw from outside, and what the database said at its end. The checks read nothing else. */

/** One job as its client knows it. */
export interface Attempted {
  /** The client's own name for it, unique in the run; the last part of its callback URL. */
  name: string;
  /** Absent: the server assigns one. Such a job is asked for once only, since asking again would make another. */
  uid?: string;
  environment: 'production' | 'sandbox';
  tier: 'human' | 'machine';
  text: string;
  /** Milliseconds since the epoch, before its first request. */
  sentAt: number;
  /** The answer 201 or 200 came; absent: the client never got one and gave up, so the job may exist or not. */
  acknowledged?: { at: number; uid: string; orderNumber: number | undefined; priceCents: number };
}

/** One request that the receiver got. */
export interface Delivered {
  /** From the path that it was sent to. */
  name: string;
  webhookId: string;
  body: string;
  at: number;
}

export interface JobFact {
  /** From its callback URL. */
  name: string;
  uid: string;
  environment: string;
  jobId: string;
  orderNumber: number;
  status: string;
  /** Why it failed; null while it has not. */
  failure: string | null;
  priceCents: number;
}

export interface TransferFact {
  jobId: string | null;
  environment: string;
  kind: string;
  debit: string;
  credit: string;
  cents: number;
}

export interface DeliveryFact {
  deliveryId: string;
  jobId: string;
  status: string;
  /** Attempts without an end on record, or with none when the next was begun half a lease (of 5 s) later: a fault met them. */
  unfinishedAttempts: number;
}

export interface History {
  attempted: Attempted[];
  delivered: Delivered[];
  /** Milliseconds since the epoch of every kill of the program. */
  kills: number[];
  /** How often PostgreSQL was killed, besides. */
  databaseKills: number;
  /** Milliseconds that a human job of the sandbox is held. */
  holdMilliseconds: number;
  /** Deliveries that may be under way at one moment: as many may be repeated after each kill. */
  deliveriesAtATime: number;
  jobs: JobFact[];
  transfers: TransferFact[];
  deliveries: DeliveryFact[];
  balances: { environment: string; availableCents: number }[];
}
