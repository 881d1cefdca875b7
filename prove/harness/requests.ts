/** Sends requests as customers do: repeats each request until the service responds. */
import { setTimeout as wait } from 'node:timers/promises';

export interface Answer {
  /** The HTTP status, or 0 if the connection broke or no response came in time. */
  status: number;
  text: string;
}

const REQUEST_TIMEOUT = 408;

/** Thrown when the service refuses a correct request. */
export class RequestRefused extends Error {
  override name = 'RequestRefused';
}

/** Sends one request. If the connection breaks, the result has status 0. */
export async function sendRequest(
  url: string,
  { key, ...init }: Omit<RequestInit, 'headers'> & { key?: string; headers?: Record<string, string> },
): Promise<Answer> {
  try {
    const authorization = key === undefined ? {} : { authorization: `ApiKey ${key}` };
    const response = await fetch(url, { ...init, headers: { ...authorization, ...init.headers } });
    return { status: response.status, text: await response.text() };
  } catch {
    return { status: 0, text: '' };
  }
}

/**
 * Sends requests until the status of a response is below 500. Also repeats a request that did not arrive in time (408),
 * as `docs/errors.md` tells customers.
 *
 * @param send called with the number of earlier attempts
 * @param giveUp called after each failed attempt; true stops the repetition, and an error ends the proof
 * @returns the response, or undefined after giving up
 */
export async function sendUntilAnswered(
  send: (tried: number) => Promise<Answer>,
  { pause = 50, giveUp = () => false }: { pause?: number; giveUp?: () => boolean } = {},
): Promise<Answer | undefined> {
  for (let tried = 0; ; tried++) {
    const answer = await send(tried);
    if (answer.status > 0 && answer.status < 500 && answer.status !== REQUEST_TIMEOUT) return answer;
    if (giveUp()) return undefined;
    await wait(pause);
  }
}

/**
 * Sends requests like `sendUntilAnswered`, but accepts no error.
 *
 * @throws {@link RequestRefused} when the status is 400 or above
 */
export async function sendUntilAccepted(...args: Parameters<typeof sendUntilAnswered>) {
  const answer = await sendUntilAnswered(...args);
  if (answer !== undefined && answer.status >= 400)
    throw new RequestRefused(`${answer.status} ${answer.text}`);
  return answer;
}
