/**
 * What the routes of the operator's console (`/api/console/…`) and of a customer's account (`/api/account/…`) share,
 * whichever room they belong to: how they are described, how a form is read, and how a page is asked for.
 */
import type { FastifyRequest, FastifySchema } from 'fastify';
import Type, { type TObject, type TSchema } from 'typebox';
import type { Environment } from './account.ts';
import { type Reason, reason, WrongValue, wrongFields } from './errors.ts';
import { answer } from './schemas.ts';
import { findUnusable } from './text.ts';

/** How operations of the web app are described under a tag; their refusals are the door's. */
export function describing(tag: string) {
  return (
    operationId: string,
    summary: string,
    returns: TSchema,
    more: {
      status?: number;
      description?: string;
      params?: TObject;
      querystring?: TObject;
      body?: TSchema;
    } = {},
  ): FastifySchema => {
    const { status = 200, ...rest } = more;
    return { operationId, summary, ...rest, tags: [tag], response: { [status]: answer(summary, returns) } };
  };
}

/** An operation of the console. */
export const described = describing('Console');
/** An operation of a customer, about their own account. */
export const describedOwn = describing('Own account');

export const MOMENT = Type.String({ format: 'date-time', description: 'ISO 8601, in UTC.' });
export const CENTS = Type.Integer({ description: 'US cents.' });
export const ENVIRONMENT = Type.Enum(['production', 'sandbox']);
export const OPTIONAL_TEXT = Type.Union([Type.String(), Type.Null()]);
export const OPTIONAL_MOMENT = Type.Union([MOMENT, Type.Null()]);
export const accountParameters = Type.Object({ username: Type.String() });
/** A form is read by hand, and passes over what it does not know. */
export const open = { additionalProperties: true } as const;

/** Turns what was given into the typed value; throws a WrongValue, or an Error whose message completes "must be …". */
export type Check<T> = (given: unknown) => T;

export interface Form {
  /** Whether the field is there, be it null. */
  has(name: string): boolean;
  /** Undefined where it is absent, null, or wrong. */
  optional<T>(name: string, check: Check<T>): T | undefined;
  /** Where it is wrong, `done` throws before its value is used. */
  required<T>(name: string, check: Check<T>): T;
  complain(name: string, why: Reason): void;
  /** Complains of every field but these. */
  only(...names: string[]): void;
  /** @throws ApiError `invalid_request` that names every wrong field, also by `fields` */
  done(): void;
}

export function readForm(given: unknown): Form {
  const isForm = typeof given === 'object' && given !== null && !Array.isArray(given);
  const fields = (isForm ? given : {}) as Record<string, unknown>;
  const faults = new Map<string, Reason>();
  const complain = (name: string, why: Reason) => {
    if (!faults.has(name)) faults.set(name, why);
  };
  if (!isForm && given !== undefined) complain('body', 'must be a JSON object.');
  function optional<T>(name: string, check: Check<T>): T | undefined {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (value === undefined || value === null) return undefined;
    try {
      return check(value);
    } catch (error) {
      complain(name, error instanceof WrongValue ? error.reason : `must be ${(error as Error).message}.`);
      return undefined;
    }
  }
  return {
    has: (name) => Object.hasOwn(fields, name),
    optional,
    required<T>(name: string, check: Check<T>): T {
      const value = optional(name, check);
      if (value === undefined) complain(name, reason('required'));
      return value as T;
    },
    complain,
    only(...names) {
      for (const name of Object.keys(fields)) {
        if (!names.includes(name)) complain(name, 'cannot be changed here.');
      }
    },
    done() {
      if (faults.size > 0) throw wrongFields(Object.fromEntries(faults));
    },
  };
}

/** A text of one line or more, trimmed. */
export function text(most: number, least = 1): Check<string> {
  return (given) => {
    const value = typeof given === 'string' ? given.trim() : undefined;
    if (value === undefined || findUnusable(value) !== undefined) throw new WrongValue('text');
    if ([...value].length < least || [...value].length > most) {
      throw new WrongValue('text_length', { least, most });
    }
    return value;
  };
}

/** A query writes its numbers in digits. */
export function integer(least: number, most: number): Check<number> {
  return (given) => {
    const value = typeof given === 'string' && /^-?\d{1,15}$/.test(given) ? Number(given) : given;
    if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > most) {
      throw new WrongValue('whole_number', { least, most });
    }
    return value as number;
  };
}

export const flag: Check<boolean> = (given) => {
  if (given === true || given === 'true') return true;
  if (given === false || given === 'false') return false;
  throw new WrongValue('yes_or_no');
};

export function oneOf<const T extends string>(...accepted: readonly T[]): Check<T> {
  return (given) => {
    const found = accepted.find((value) => value === given);
    if (found === undefined) throw new WrongValue('one_of', { accepted: accepted.join(', ') });
    return found;
  };
}

export const environment: Check<Environment> = oneOf('production', 'sandbox');

export const moment: Check<Date> = (given) => {
  const form = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;
  const value = typeof given === 'string' && form.test(given) ? new Date(given) : undefined;
  if (value === undefined || Number.isNaN(value.getTime())) {
    throw new WrongValue('date');
  }
  return value;
};

const SHORTNAME = /^[a-z]{2,8}(-[a-z0-9]{1,8})*$/;

export const shortname: Check<string> = (given) => {
  if (typeof given !== 'string' || !SHORTNAME.test(given)) {
    throw new WrongValue('language');
  }
  return given;
};

export const shortnameOrAll: Check<string> = (given) => (given === '*' ? given : shortname(given));

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const id: Check<string> = (given) => {
  if (typeof given !== 'string' || !ID.test(given)) throw new WrongValue('id');
  return given;
};

export function isId(given: string): boolean {
  return ID.test(given);
}

export function listOf<T>(check: Check<T>, most: number): Check<T[]> {
  return (given) => {
    if (!Array.isArray(given) || given.length > most) throw new WrongValue('list', { most });
    return given.map(check);
  };
}

/** The parameter of a path. */
export function parameter(request: FastifyRequest, name: string): string {
  return (request.params as Record<string, string>)[name]!;
}
