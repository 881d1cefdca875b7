/** Whose data a question is about. Every store function takes it first, so that no query starts anywhere else. */

export type Environment = 'production' | 'sandbox';
export type Dialect = 'spec' | 'legacy';

declare const accountBrand: unique symbol;

/**
 * The key of everything that belongs to an account. Branded: it comes from signing in, from an operator's
 * command, or from a row that a worker claimed, and cannot be put together from request data.
 */
export type AccountRef = { readonly part: number; readonly accountId: string } & {
  readonly [accountBrand]: true;
};

/** Who is calling: an account, in the environment of the address and key that it used. */
export interface Caller {
  readonly account: AccountRef;
  readonly username: string;
  readonly environment: Environment;
  readonly dialect: Dialect;
  readonly readOnly: boolean;
  /** The brand that its requests are for where they name none. */
  readonly defaultBrand: string | undefined;
}

export type PersonRole = 'customer' | 'editor' | 'operator';

/** Who is signed in: set by the door of `/api/` before any handler there runs. */
export interface Person {
  readonly userId: string;
  readonly sessionId: string;
  /** In lower case. */
  readonly email: string;
  readonly name: string;
  readonly role: PersonRole;
  /** A customer's; nobody else has one. */
  readonly account?: {
    readonly ref: AccountRef;
    readonly username: string;
    /** May decide about the account itself. */
    readonly owner: boolean;
  };
}
