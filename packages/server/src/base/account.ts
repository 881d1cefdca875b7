/** Accounts, callers and signed-in users. */

export type Environment = 'production' | 'sandbox';
export type Dialect = 'spec' | 'legacy';

/**
 * The parts of the API to which a key can be limited. Each operation needs one of them, or only a valid key. A key with
 * `jobs` may also do what `machine` allows.
 */
export const SCOPES = ['jobs', 'machine', 'chat', 'deliveries', 'account'] as const;
export type KeyScope = (typeof SCOPES)[number];

declare const accountBrand: unique symbol;

/**
 * The key of all data of an account, and the first parameter of every store function. It is a branded type, so code
 * cannot build it from request data. It comes from authentication, from an operator's command or from a row that a
 * worker has leased.
 */
export type AccountRef = { readonly part: number; readonly accountId: string } & {
  readonly [accountBrand]: true;
};

/** An authenticated API caller: an account in the environment of its key. */
export interface Caller {
  readonly account: AccountRef;
  readonly username: string;
  /** The public part of the key. */
  readonly keyId: string;
  readonly environment: Environment;
  readonly dialect: Dialect;
  readonly readOnly: boolean;
  readonly scopes: readonly KeyScope[];
  /** The most that the key may order in a day (UTC), in cents; undefined for no limit. */
  readonly dailyCents: number | undefined;
  /** The account's own limit of requests a second for each key; 0 for none, undefined for the limit of the server. */
  readonly requestsPerSecond: number | undefined;
  /** The origins whose pages may call the API of the account from a browser. */
  readonly allowedOrigins: readonly string[];
  /** The default brand of the account, which applies to requests that name no brand. */
  readonly defaultBrand: string | undefined;
  /** Whether the account is suspended, so that its requests are refused. */
  readonly suspended: boolean;
}

export type PersonRole = 'customer' | 'editor' | 'operator';

/** The signed-in user of a request. */
export interface Person {
  readonly userId: string;
  readonly sessionId: string;
  /** The e-mail address in lower case. */
  readonly email: string;
  readonly name: string;
  readonly role: PersonRole;
  readonly secondFactor: boolean;
  /** Whether the session was started by the OpenID Connect provider. */
  readonly byProvider: boolean;
  /** The account of a customer; undefined for other roles. */
  readonly account?: {
    readonly ref: AccountRef;
    readonly username: string;
    /** Whether the account is suspended, so that its users can only read. */
    readonly suspended: boolean;
    /** Whether the user may also decide on retention, export and erasure of the account. */
    readonly owner: boolean;
  };
}
