/**
 * Servers of language models, one for each profile. They follow the documentation: each accepts only the request that
 * its family's chat template or model card describes.
 */

import type { ProfileName } from '../../src/engines.ts';
import type { HttpResult, Protocol, ReceivedRequest } from './service.ts';

/** The words before and after the source text in the prompts for English to Spanish, as the model cards print them. */
const PROMPTS: Record<Exclude<ProfileName, 'chat' | 'translategemma'>, [before: string, after: string]> = {
  plain: ['Translate the following text from English into Spanish.\nEnglish: ', '\nSpanish:'],
  tower: ['Translate the following text from English into Spanish.\nEnglish: ', '\nSpanish:'],
  'translategemma-ollama': [
    'You are a professional English (en) to Spanish (es) translator. Your goal is to accurately convey the meaning and nuances of the original English text while adhering to Spanish grammar, vocabulary, and cultural sensitivities.\nProduce only the Spanish translation, without any additional explanations or commentary. Please translate the following English text into Spanish:\n\n\n',
    '',
  ],
  hunyuan: ['Translate the following segment into Spanish, without additional explanation.\n\n', ''],
  hunyuan2: [
    'Translate the following text into Spanish. Note that you should only output the translated result without any additional explanation:\n\n',
    '',
  ],
};

/** Returns the texts of a request; an error message if the family's chat template refuses the request. */
export function textsOf(
  profile: ProfileName,
  { messages, response_format }: ReceivedRequest['body'],
): string[] | string {
  const { content } = messages.at(-1);
  if (profile === 'chat') {
    if (messages.length !== 2 || response_format?.type !== 'json_schema') return 'no schema';
    return JSON.parse(content).segments.map(({ text }: { text: string }) => text);
  }
  if (messages.length !== 1 || messages[0].role !== 'user') return 'System role not supported';
  if (response_format !== undefined) return 'This model does not support response_format';
  if (profile === 'translategemma') {
    const [one, ...more] = Array.isArray(content) ? content : [];
    if (one === undefined || more.length > 0) return 'User role must provide a list with exactly one item';
    if (Object.keys(one).sort().join() !== 'source_lang_code,target_lang_code,text,type') return 'Wrong keys';
    if (one.source_lang_code !== 'en' || one.target_lang_code !== 'es') return 'Unknown language code';
    return [one.text];
  }
  const [before, after] = PROMPTS[profile];
  if (typeof content !== 'string' || !content.startsWith(before) || !content.endsWith(after))
    return 'Wrong prompt';
  return [content.slice(before.length, content.length - after.length)];
}

export function completion(content: unknown, end = 'stop', more: object = {}): HttpResult {
  const message = { role: 'assistant', content, ...more };
  return {
    status: 200,
    json: { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: end }] },
  };
}

/** Returns the content of a reply with these translations. */
export const contentOf = (profile: ProfileName, targets: readonly string[]): string =>
  profile === 'chat'
    ? JSON.stringify({ segments: targets.map((target, n) => ({ id: String(n + 1), target })) })
    : ` ${targets[0]}`;

/** Makes the reply of a server from the correct translations of the texts in the request. */
export type Answer = (targets: string[], texts: string[]) => HttpResult;

/**
 * Returns the test server of a profile. It calls `answer` for each request. `answer` returns the function that makes
 * the reply, or undefined for the correct reply, which is the default.
 */
export const chatServer = (profile: ProfileName, answer: () => Answer | undefined): Protocol => ({
  key: 'unused',
  translates: ({ path }) => path === '/chat/completions',
  answer({ method, path, body }, translate) {
    if (method === 'GET') return { status: 200, json: { object: 'list', data: [{ id: 'm' }] } };
    if (path !== '/chat/completions') return { status: 404, json: { error: { message: 'File Not Found' } } };
    const texts = textsOf(profile, body);
    if (typeof texts === 'string') {
      return { status: 400, json: { error: { code: 400, message: texts, type: 'invalid_request_error' } } };
    }
    const targets = translate(texts, false);
    return answer()?.(targets, texts) ?? completion(contentOf(profile, targets));
  },
});
