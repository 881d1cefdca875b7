/** What a crash run saw from outside, and what the database said at its end. The checks read nothing else. */

/** One job as its client knows it. */
export interface Attempted {
  uid: string;
  environment: 'production' | 'sandbox';
  tier: 'human' | 'machine';
  text: string;
  /** The answer 201 or 200 came; absent: the client never got one and gave up, so the job may exist or not. */
  acknowledged?: { at: number; orderNumber: number | undefined; priceCents: number };
}

/** One request that the receiver got. */
export interface Delivered {
  uid: string;
  webhookId: string;
  body: string;
  at: number;
}

export interface JobFact {
  uid: string;
  environment: string;
  jobId: string;
  orderNumber: number;
  status: string;
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
}

export interface History {
  attempted: Attempted[];
  delivered: Delivered[];
  /** Milliseconds since the epoch of every kill. */
  kills: number[];
  /** Deliveries that may be under way at one moment: as many may be repeated after each kill. */
  deliveriesAtATime: number;
  jobs: JobFact[];
  transfers: TransferFact[];
  deliveries: DeliveryFact[];
  balances: { environment: string; availableCents: number }[];
}
