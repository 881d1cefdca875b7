/** Requests of customers who repeat them until the service answers. */
import { setTimeout as wait } from 'node:timers/promises';

export interface Answer {
  /** 0 when the connection broke or no answer came in time. */
  status: number;
  text: string;
}

/** A request that the service refused although it is correct. */
export class RequestRefused extends Error {
  override name = 'RequestRefused';
}

/** Sends one request. A broken connection is an answer with status 0. */
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
 * Sends requests until one is answered with a status below 500.
 * @param send called with the number of earlier tries
 * @param giveUp called after each failed try; true ends the repetition, and an error ends the proof
 * @returns undefined after giving up
 */
export async function sendUntilAnswered(
  send: (tried: number) => Promise<Answer>,
  { pause = 50, giveUp = () => false }: { pause?: number; giveUp?: () => boolean } = {},
): Promise<Answer | undefined> {
  for (let tried = 0; ; tried++) {
    const answer = await send(tried);
    if (answer.status > 0 && answer.status < 500) return answer;
    if (giveUp()) return undefined;
    await wait(pause);
  }
}

/** As `sendUntilAnswered`. @throws {@link RequestRefused} when the status is 400 or above */
export async function sendUntilAccepted(...args: Parameters<typeof sendUntilAnswered>) {
  const answer = await sendUntilAnswered(...args);
  if (answer !== undefined && answer.status >= 400)
    throw new RequestRefused(`${answer.status} ${answer.text}`);
  return answer;
}
