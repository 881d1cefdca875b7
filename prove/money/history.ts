/** What a money run saw from outside, and what the database said at its end. The checks read nothing else. */

/** One order: a job that its client wants once, however often it asks for it. */
export interface Order {
  /** Unique in the run; the text of the job begins with it. */
  name: string;
  account: string;
  environment: 'production' | 'sandbox';
  /** `fallback`: of a brand that does not wait for an editor. `upgrade`: a machine's, which goes on to a human. */
  kind: 'plain' | 'fallback' | 'upgrade';
  /** How repeats are told: by a uid of the client's own, or by `Idempotency-Key`. */
  by: 'uid' | 'key';
  /** Every answer to a create of it: 201 or 200, and what it said. */
  answers: { status: number; uid: string; orderNumber?: number; priceCents?: number }[];
  /** Every answer to an upgrade of it. */
  upgrades: number[];
  /** Every answer to a cancel of it; none were asked for when empty. */
  cancels: number[];
}

export interface JobFact {
  account: string;
  environment: string;
  uid: string;
  orderNumber: number;
  tier: string;
  status: string;
  priceCents: number;
  /** The number of its last charge. */
  charge: number;
  fellBack: boolean;
  hasResult: boolean;
  /** The first word of its text: the name of its order. */
  name: string;
}

export interface TransferFact {
  account: string;
  environment: string;
  /** Of the job; null for a top-up. */
  uid: string | null;
  kind: string;
  /** Of the job: which of its charges. */
  charge: number;
  cents: number;
}

export interface History {
  orders: Order[];
  /** Concurrent creates of each order. */
  creates: number;
  /** Milliseconds since the epoch of every kill of the program. */
  kills: number[];
  /** The names of the orders that the receiver was told of, each time. */
  delivered: string[];
  jobs: JobFact[];
  transfers: TransferFact[];
  balances: { account: string; environment: string; availableCents: number }[];
  /** What `ledger verify` found. */
  discrepancies: number;
}
