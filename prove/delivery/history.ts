/** What a delivery run writes down: what was accepted, what arrived and how it was answered, what was on record. */

export type Host = 'good' | 'hostile' | 'tls';

/** Something that the program accepted, and so has to deliver. */
export interface Accepted {
  /** The path of its address at the sink: names it. */
  name: string;
  host: Host;
  /** Of a chat: its place in it, from 0. Without: a test event, in no order. */
  chat?: { name: string; place: number };
  at: number;
}

/** One request as the sink saw it, in the order of its arrival. */
export interface Arrival {
  name: string;
  webhookId: string;
  /** SHA-256 of the body. */
  digest: string;
  signed: boolean;
  at: number;
  /** The status that the sink decided on, where it answers at all. */
  answer: number | undefined;
  /** A reset followed the answer, and may have overtaken it: nobody knows whether it was read. */
  overtaken?: boolean;
  /** Whole seconds of a `Retry-After` that was sent. */
  retryAfter?: number;
}

export interface History {
  /** The names under which anything was asked for; not all of it was heard to be accepted. */
  asked: string[];
  accepted: Accepted[];
  arrivals: Arrival[];
  /** When the program was killed. */
  kills: number[];
  /** Whether the sink misbehaved. */
  hostile: boolean;
  /** As the database has them at the end. */
  deliveries: { id: string; status: string; attempts: number; unfinished: number }[];
  /**
   * Of the run without faults: an account's deliveries to a host at which every place that another account may have was
   * taken, by requests that were not answered until `until` (Unix milliseconds).
   */
  shared?: { names: string[]; until: number };
}

export const isSuccess = ({ answer }: Arrival): boolean =>
  answer !== undefined && answer >= 200 && answer < 300;
