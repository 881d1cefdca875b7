/** What an editing run saw from outside, and what the database said at its end. The checks read nothing else. */

/** A save as its editor knows it. */
export interface Save {
  uid: string;
  position: number;
  task: string;
  token: string;
  text: string;
  /** How it was answered last. `unknown`: no answer came before the run was over. */
  answer: 'saved' | 'draft' | 'history' | 'refused' | 'unknown';
  /** That it became; of what was saved, and of a draft that was kept. */
  revision: number;
}

/** A claim that was given. */
export interface Given {
  task: string;
  token: string;
  editor: string;
}

export interface TaskFact {
  task: string;
  kind: 'edit' | 'review';
  status: string;
}

export interface ClaimFact {
  task: string;
  token: string;
  editor: string;
  /** Milliseconds since the epoch, by the database's clock. */
  from: number;
  /** Undefined: it holds still. */
  to: number | undefined;
  ended: string | undefined;
}

export interface EditFact {
  uid: string;
  position: number;
  text: string;
  revision: number;
  status: string;
}

export interface History {
  saves: Save[];
  given: Given[];
  kills: number;
  /** Milliseconds from asking for a claim to having it. */
  claimMilliseconds: number[];
  seconds: number;
  /** How many of each move the editors have made. */
  did: Record<string, number>;
  tasks: TaskFact[];
  claims: ClaimFact[];
  edits: EditFact[];
  /** Kept in the history of a segment after its claim had ended. */
  left: { uid: string; position: number; text: string }[];
  jobs: { uid: string; status: string; result: string | undefined }[];
  /** Places of editors that are taken though they have nothing. */
  slots: number;
  /** Seconds until the last job was delivered after the last was handed in; undefined: it never was. */
  settled: boolean;
}
