/** Accounts, callers and signed-in users. */

export type Environment = 'production' | 'sandbox';
export type Dialect = 'spec' | 'legacy';

declare const accountBrand: unique symbol;

/**
 * The key of everything that belongs to an account; the first parameter of every store function. It is a branded type:
 * it comes from authentication, an operator's command or a claimed row, and cannot be built from request data.
 */
export type AccountRef = { readonly part: number; readonly accountId: string } & {
  readonly [accountBrand]: true;
};

/** An authenticated API caller: an account in the environment of its key. */
export interface Caller {
  readonly account: AccountRef;
  readonly username: string;
  readonly environment: Environment;
  readonly dialect: Dialect;
  readonly readOnly: boolean;
  /** The brand of requests that name none. */
  readonly defaultBrand: string | undefined;
}

export type PersonRole = 'customer' | 'editor' | 'operator';

/** The signed-in user of a request. */
export interface Person {
  readonly userId: string;
  readonly sessionId: string;
  /** In lower case. */
  readonly email: string;
  readonly name: string;
  readonly role: PersonRole;
  /** Customers have one, other roles do not. */
  readonly account?: {
    readonly ref: AccountRef;
    readonly username: string;
    /** Whether they may decide on retention, export and erasure of the account. */
    readonly owner: boolean;
  };
}
