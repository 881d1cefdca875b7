/** The definition of a setting, and the checks of its values. */
import ipaddr from 'ipaddr.js';
import { splitHosts, type WantedHost } from '../base/hosts.ts';
import { ENGINE_NAMES_TEXT, type EngineName, findEngineName } from './engine-names.ts';

/** Converts a written value. Throws an Error whose message completes the sentence "NAME must be …". */
type Check<T> = (written: string) => T;

export interface Setting<T> {
  name: string;
  /** The default as it would be written in the environment. Empty means that the setting is not set. */
  default: string;
  check: Check<T>;
  meaning: string;
  /**
   * Writes a value as it would be written in the environment. Absent if the value is a number, a word, or a list or
   * pair of these.
   */
  write?(value: T): string;
}

export function setting<T>(
  name: string,
  fallback: string,
  check: Check<T>,
  meaning: string,
  write?: (value: T) => string,
): Setting<T> {
  return { name, default: fallback, check, meaning, ...(write === undefined ? {} : { write }) };
}

export const text: Check<string> = (written) => written;

export const optional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (written) =>
    written === '' ? undefined : check(written);

export function integer(least: number, most: number): Check<number> {
  return (written) => {
    const value = Number(written);
    if (!/^\d+$/.test(written) || value < least || value > most) {
      throw new Error(`a whole number from ${least} to ${most}`);
    }
    return value;
  };
}

/** Reads a number such as `3` or `3.5`. */
export function decimal(least: number, most: number): Check<number> {
  return (written) => {
    const value = Number(written);
    if (!/^\d+(?:\.\d+)?$/.test(written) || value < least || value > most) {
      throw new Error(`a number from ${least} to ${most}`);
    }
    return value;
  };
}

export function oneOf<const T extends string>(...accepted: T[]): Check<T> {
  return (written) => {
    const found = accepted.find((value) => value === written);
    if (found === undefined) throw new Error(`one of ${accepted.join(', ')}`);
    return found;
  };
}

export const httpUrl: Check<string> = (written) => {
  if (!URL.canParse(written) || !/^https?:$/.test(new URL(written).protocol)) {
    throw new Error('an http or https URL');
  }
  return written.replace(/(?<!\/)\/+$/, '');
};

/** The address of the server itself. Pages, links and cookies belong to a whole host. */
export const originUrl: Check<string> = (written) => {
  const plain = httpUrl(written);
  const { pathname, search, hash, username } = new URL(plain);
  if (`${pathname}${search}${hash}${username}` !== '/') {
    throw new Error('an http or https URL without a path, because Dragoman needs a host name of its own');
  }
  return plain;
};

/**
 * Returns whether the PostgreSQL driver can parse a URL. The host may be missing, because the query string of
 * the URL can name it.
 */
function isReadable(address: string): boolean {
  try {
    decodeURI(address);
  } catch {
    return false;
  }
  return URL.canParse(address.replace('@/', '@localhost/').replaceAll(' ', '%20'));
}

/**
 * The address of an OpenID Connect provider. It stays unchanged, because it must equal the provider's own name, which
 * may end with a slash.
 */
export const issuerUrl: Check<string> = (written) => {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  const isPlain = url?.protocol === 'http:' && isLoopbackHost(url.hostname);
  if (url?.protocol !== 'https:' && !isPlain) {
    throw new Error('an https URL; only a provider on this machine may have http');
  }
  return written;
};

function isLoopbackHost(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return bare === 'localhost' || (ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback');
}

export const domain: Check<string> = (written) => {
  if (!/^[^\s@/.]+(\.[^\s@/.]+)+$/.test(written))
    throw new Error('a comma-separated list of domains such as example.com');
  return written.toLowerCase();
};

/** Reads a list of the form `value=role,value=role`. */
export const roleByValue: Check<Record<string, 'editor' | 'operator'>> = (written) =>
  Object.fromEntries(
    listOf((item) => {
      const end = item.lastIndexOf('=');
      const [value, role] = [item.slice(0, end), item.slice(end + 1)];
      if (end < 1 || (role !== 'editor' && role !== 'operator')) {
        throw new Error('a comma-separated list such as dragoman-operators=operator,translators=editor');
      }
      return [value, role] as const;
    })(written),
  );

/** Reads which users may sign in with a password. */
export const passwordUsers: Check<'everybody' | string[]> = (written) => {
  if (written === 'everybody') return written;
  return listOf((item) => {
    if (!/^[^\s@]+@[^\s@]+$/.test(item))
      throw new Error('everybody, or a comma-separated list of e-mail addresses');
    return item.toLowerCase();
  })(written);
};

const postgresUrl =
  (wanted: WantedHost): Check<string> =>
  (written) => {
    if (!/^postgres(ql)?:\/\//.test(written)) throw new Error('a URL that starts with postgres://');
    for (const address of splitHosts(written, wanted)) {
      if (!isReadable(address)) {
        throw new Error('a URL, with special characters of user name and password percent-encoded');
      }
    }
    return written;
  };

export const databaseUrl = postgresUrl('primary');
export const standbyUrl = postgresUrl('standby');

export const smtpUrl: Check<string> = (written) => {
  if (!/^smtps?:\/\/[^/?#]+\/?$/.test(written) || !URL.canParse(written)) {
    throw new Error('a URL that starts with smtp:// or smtps://');
  }
  return written;
};

export const secretKey: Check<Buffer> = (written) => {
  const key = Buffer.from(written, 'base64');
  if (key.length !== 32) throw new Error('32 bytes in base64');
  return key;
};

export const listOf =
  <T>(check: Check<T>): Check<T[]> =>
  (written) =>
    written === '' ? [] : written.split(',').map((item) => check(item.trim()));

export const filledListOf =
  <T>(check: Check<T>): Check<T[]> =>
  (written) =>
    written.split(',').map((item) => check(item.trim()));

export const direction: Check<string> = (written) => {
  if (!/^[a-z]{2,3}(-[a-z0-9]+)?>[a-z]{2,3}(-[a-z0-9]+)?$/.test(written)) {
    throw new Error('a comma-separated list of pairs such as en>de,de>en');
  }
  return written;
};

export const engineName: Check<EngineName> = (written) => {
  const found = findEngineName(written);
  if (found === undefined) throw new Error(`one of ${ENGINE_NAMES_TEXT}`);
  return found;
};

export const jsonObject: Check<Record<string, unknown>> = (written) => {
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('a JSON object such as {"temperature":null}');
  }
  return { ...value };
};

/** Reads a list of the form `name=number,name=number`. */
export const numberByName: Check<Record<string, number>> = (written) =>
  Object.fromEntries(
    listOf((item) => {
      const [, name, number] = /^([a-z]+(?::[a-z0-9]+)?)=(\d+(?:\.\d+)?)$/.exec(item) ?? [];
      if (name === undefined || Number(number) <= 0) {
        throw new Error('a comma-separated list of engines with numbers above zero, such as deepl=5');
      }
      return [name, Number(number)] as const;
    })(written),
  );

export const folder: Check<string> = (written) => {
  if (written.trim() === '') throw new Error('the path of a folder');
  return written;
};

export const network: Check<string> = (written) => {
  if (!ipaddr.isValidCIDR(written)) throw new Error('a comma-separated list of networks such as 10.0.0.0/8');
  return written;
};
