/**
 * Language models behind an OpenAI-compatible `chat/completions`: a vendor's, or a server of one's own.
 *
 * What guards a customer's text and us from each other: texts go as JSON data, apart from the rules; there are no tools
 * to call; one call carries one account's text only; codes go as markers that must all come back; and every reply
 * passes the check of check.ts (length, addresses, script, chatter). A reply that fails is asked for once more, alone,
 * and then fails, so that the next engine of the chain has the segment.
 */

import type { Engine, Language, Term } from '../engine.ts';
import { MARKERS, visibleText } from '../markup.ts';
import type { Answer } from './http.ts';
import { SYSTEM, userOf } from './prompt.ts';
import type { Batch, RemoteOptions, Reply, Service } from './remote.ts';
import { failure, field, misshapen, Remote } from './remote.ts';

export interface LanguageModelOptions extends RemoteOptions {
  /** Servers of one's own often need none. */
  key?: string;
  model: string;
  /** There is no list to ask for: `en>es` for each direction that is offered. */
  directions: readonly string[];
  /**
   * `json`: many segments a call, answers held to a schema. `plain`: one segment a call in the one prompt that models
   * trained for translation alone know; they take neither tone nor instructions nor terms.
   */
  style?: 'json' | 'plain';
  /** How the answer's shape is asked for: servers differ in what they know. Default: `schema`. */
  answers?: 'schema' | 'object' | 'none';
  /** Put into each request, or taken out of it where null: `{ temperature: null, reasoning_effort: "low" }`. */
  parameters?: Readonly<Record<string, unknown>>;
  /** Estimated tokens of source text a call. Default: 1,500. */
  tokens?: number;
}

const MAX_SEGMENTS = 16;
const SCHEMA = {
  type: 'object',
  properties: {
    segments: {
      type: 'array',
      items: {
        type: 'object',
        properties: { id: { type: 'string' }, target: { type: 'string' } },
        required: ['id', 'target'],
        additionalProperties: false,
      },
    },
  },
  required: ['segments'],
  additionalProperties: false,
};

export function createLanguageModel(options: LanguageModelOptions): Engine {
  return new Remote(languageModel(options), options);
}

function languageModel(options: LanguageModelOptions): Service {
  const { key, model, directions, style = 'json', answers = 'schema', parameters = {} } = options;
  const plain = style === 'plain';
  return {
    name: 'llm',
    capabilities: {
      codes: 'best effort',
      terms: !plain,
      tone: !plain,
      instructions: !plain,
      context: !plain,
      remote: true,
    },
    notation: MARKERS,
    // About three characters a token in alphabetic scripts. A server may cut a longer prompt in silence.
    limits: { segments: plain ? 1 : MAX_SEGMENTS, characters: (options.tokens ?? 1_500) * 3 },
    settings: { style, answers, parameters, system: plain ? '' : SYSTEM },
    model,
    declared: true,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },

    async list() {
      return directions.map((direction) => {
        const [from = '', to = ''] = direction.split('>');
        return { from, to, source: nameOf(from), target: nameOf(to) };
      });
    },

    health: (ask) => ask({ method: 'GET', path: '/models' }),

    async translate(ask, batch) {
      const messages = plain ? plainMessages(batch) : jsonMessages(batch);
      const body = {
        model,
        messages,
        temperature: 0,
        max_tokens: answerTokens(batch.texts),
        ...(plain ? {} : formatOf(answers)),
        ...parameters,
      };
      const answer = await ask({ method: 'POST', path: '/chat/completions', body: withoutNulls(body) });
      // Some servers answer 400 to the one segment that their filter does not like.
      if (!answer.ok) return failure(answer, [400, 413, 422]);
      return readAnswer(answer, batch, plain);
    },
  };
}

function jsonMessages(batch: Batch): { role: string; content: string }[] {
  return [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: userOf(batch, termsIn(batch)) },
  ];
}

function plainMessages({ offer, texts }: Batch): { role: string; content: string }[] {
  const { source, target } = offer;
  const content = `Translate the following text from ${source} into ${target}.\n${source}: ${texts[0] ?? ''}\n${target}:`;
  return [{ role: 'user', content }];
}

function formatOf(answers: NonNullable<LanguageModelOptions['answers']>): { response_format?: object } {
  if (answers === 'none') return {};
  if (answers === 'object') return { response_format: { type: 'json_object' } };
  return {
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'translations', strict: true, schema: SCHEMA },
    },
  };
}

const withoutNulls = (body: object): object =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));

/** Room for a translation twice as long in a language that takes many tokens a word, and for the JSON around it. */
function answerTokens(texts: readonly string[]): number {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return Math.min(16_000, 200 + 40 * texts.length + length);
}

/** Only those rows of the glossary whose term is in the batch, with whatever ending: what is for every text first, then the longest. */
function termsIn({ sources, context }: Batch): Term[] {
  const text = sources.map(({ segment }) => visibleText(segment.pieces)).join('\n');
  const lower = text.toLowerCase();
  return (context.terms ?? [])
    .filter(({ source, caseSensitive }) =>
      caseSensitive ? begins(source, text) : begins(source.toLowerCase(), lower),
    )
    .sort((a, b) => orderOf(b) - orderOf(a));
}

const orderOf = ({ source }: Term): number => (source === '' ? Number.MAX_SAFE_INTEGER : source.length);

const SPACED = /[\p{sc=Latn}\p{sc=Cyrl}\p{sc=Grek}\p{N}]/u;

/** Whether a word of the text begins so: `it` is not in `with`, and would only crowd out those that are there. */
function begins(term: string, text: string): boolean {
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) {
    if (at === 0 || term === '' || !SPACED.test(term[0]!) || !SPACED.test(text[at - 1]!)) return true;
  }
  return false;
}

function readAnswer(answer: Extract<Answer, { ok: true }>, batch: Batch, plain: boolean): Reply {
  const choices = field(answer.json, 'choices');
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  const content = field(field(choice, 'message'), 'content');
  const end = field(choice, 'finish_reason');
  if (end === 'length') {
    return { ok: false, reason: 'garbled', detail: 'the answer was cut off (length)', divide: true };
  }
  if (end === 'content_filter') {
    return { ok: false, reason: 'refused', detail: "the service's filter refused", divide: true };
  }
  if (typeof content !== 'string') return misshapen('no content');
  return plain ? { ok: true, texts: [content] } : readSegments(content, batch.texts.length);
}

/** Takes away the fence that servers without schemas like to put round the whole answer. */
function unfence(content: string): string {
  const written = content.trim();
  const begin = written.indexOf('\n');
  const fenced = /^```(?:json)?\s*$/.test(written.slice(0, begin)) && written.endsWith('```');
  return begin > 0 && fenced ? written.slice(begin, -3) : content;
}

/** By id, in whatever order; one that came twice is none. Each is judged alone afterwards. */
function readSegments(content: string, count: number): Reply {
  let json: unknown;
  try {
    json = JSON.parse(unfence(content));
  } catch {
    return misshapen('content that is not JSON', true);
  }
  const list = field(json, 'segments');
  if (!Array.isArray(list)) return misshapen('no segments', true);
  const texts: (string | null)[] = Array.from({ length: count }, () => null);
  const seen = new Set<number>();
  for (const each of list) {
    const [id, target] = [field(each, 'id'), field(each, 'target')];
    const n = Number(id);
    if (!Number.isInteger(n) || n < 1 || n > count || typeof target !== 'string') continue;
    texts[n - 1] = seen.has(n) ? null : target;
    seen.add(n);
  }
  return { ok: true, texts };
}

const NAMES = new Intl.DisplayNames(['en'], { type: 'language' });

/** `Brazilian Portuguese` for `pt-br`. */
function nameOf(language: Language): string {
  try {
    return NAMES.of(language) ?? language;
  } catch {
    return language;
  }
}
