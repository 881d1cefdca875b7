/**
 * Engine for language models with an OpenAI-compatible `chat/completions` API, hosted or local.
 *
 * Protection against prompt injection: texts are JSON data, separate from the rules. The model gets no tools. A call
 * contains texts of one account only. Codes are markers that must all come back. check.ts checks every reply (length,
 * URLs, script, comments). A segment with a bad reply is sent once more, alone; then it fails, and the next engine gets it.
 */

import { modelFaultOf } from '../check.ts';
import type { Confidence } from '../confidence.ts';
import type { Engine, Term } from '../engine.ts';
import { MARKERS, visibleText } from '../markup.ts';
import type { HttpResult } from './http.ts';
import { confidencesOf, type Span, spansOfTargets } from './logprobs.ts';
import type { Message, Profile, ProfileName } from './profiles.ts';
import { languageName, PROFILES, profileFor } from './profiles.ts';
import { SYSTEM, userOf } from './prompt.ts';
import type { Batch, RemoteOptions, Reply, ServiceAdapter } from './remote.ts';
import { failure, field, malformed, RemoteEngine } from './remote.ts';

export interface LanguageModelOptions extends RemoteOptions {
  /** The API key. Local servers often need none. */
  key?: string;
  model: string;
  /** Offered directions, as `en>es`. The operator lists them, because the API cannot list them. */
  directions: readonly string[];
  /** The kind of request. Default: the profile of the model's family, which the name of the model shows. */
  profile?: ProfileName;
  /** The kind of `response_format`, which differs between servers. Default: `schema`. */
  answers?: 'schema' | 'object' | 'none';
  /**
   * Fields to set in each request, or to remove if null, such as `{ temperature: null, reasoning_effort:
   * "low" }`.
   */
  parameters?: Readonly<Record<string, unknown>>;
  /**
   * The context length of the model at its server, in tokens, for a request and its answer together. A text that does
   * not fit fails, because some servers truncate it without an error. Default: that of the profile.
   */
  context?: number;
}

const MAX_SEGMENTS = 16;
/** Maximum size of the texts of a call, in UTF-8 bytes. */
const MAX_BYTES = 4_500;
/**
 * A low estimate of the bytes per token: a token has three or more Latin letters, or a character of three bytes.
 * Digits and punctuation are estimated in `tokensOf`.
 */
const BYTES_PER_TOKEN = 3;
/** Tokens that the server's chat template adds to a request. */
const TEMPLATE_TOKENS = 100;
const MAX_ANSWER_TOKENS = 16_000;
/**
 * Asks for the probability of each token. Without `top_logprobs`, llama.cpp adds 20 other tokens to each token; with 0, it
 * returns no probabilities.
 */
const WITH_LOGPROBS = { logprobs: true, top_logprobs: 1 };
/**
 * HTTP statuses of a server that refuses `logprobs`: hosted models that reason, and servers that accept only fields that
 * they know.
 */
const REFUSALS: ReadonlySet<number | null> = new Set([400, 403, 422]);
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
  return new RemoteEngine(languageModel(options), options);
}

function languageModel(options: LanguageModelOptions): ServiceAdapter {
  const { key, model, directions, answers = 'schema' } = options;
  const name = options.profile ?? profileFor(model);
  const profile: Profile = PROFILES[name];
  const { context = profile.context } = options;
  const parameters = { ...profile.parameters, ...options.parameters };
  const follows = profile.prompt === null;
  /** A server that has accepted `logprobs` refuses later requests for another reason. */
  let logprobs: 'untested' | 'accepted' | 'refused' = 'logprobs' in parameters ? 'refused' : 'untested';
  return {
    name: 'llm',
    capabilities: {
      codes: 'best effort',
      terms: follows,
      tone: follows,
      instructions: follows,
      context: follows,
      remote: true,
    },
    notation: MARKERS,
    limits: { segments: follows ? MAX_SEGMENTS : 1, characters: MAX_BYTES, lengthOf: bytesOf },
    settings: { profile: name, answers, parameters, context, system: follows ? SYSTEM : '' },
    model,
    declared: true,
    faultOf: modelFaultOf,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },

    async list() {
      return directions.map((direction) => {
        const [from = '', to = ''] = direction.split('>');
        return { from, to, source: languageName(from), target: languageName(to) };
      });
    },

    health: (send) => send({ method: 'GET', path: '/models' }),

    async translate(send, batch) {
      const messages = messagesOf(profile, batch);
      const room = answerTokens(messages, batch.texts, context);
      if (room === null) {
        const detail = `the text does not fit into the context of ${context} tokens`;
        return { ok: false, reason: 'too long', detail, divide: true };
      }
      const body = {
        model,
        messages,
        temperature: 0,
        max_tokens: room,
        ...(follows ? formatOf(answers) : {}),
        ...parameters,
      };
      const ask = (more: object) =>
        send({ method: 'POST', path: '/chat/completions', body: withoutNulls({ ...body, ...more }) });
      let result = await ask(logprobs === 'refused' ? {} : WITH_LOGPROBS);
      if (logprobs === 'untested' && result.ok) logprobs = 'accepted';
      if (logprobs === 'untested' && !result.ok && REFUSALS.has(result.status)) {
        result = await ask({});
        if (result.ok) logprobs = 'refused';
      }
      if (!result.ok) return failure(result);
      return readAnswer(result, batch, follows, room);
    },
  };
}

/** Returns the messages of a call. The part that is the same in each call comes first, so that servers can cache it. */
function messagesOf({ prompt }: Profile, batch: Batch): Message[] {
  if (prompt !== null) return [{ role: 'user', content: prompt(batch.texts[0] ?? '', batch.offer) }];
  return [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: userOf(batch, termsIn(batch)) },
  ];
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

const bytesOf = (text: string): number => Buffer.byteLength(text);

/** Returns a high estimate of the tokens of a text. Each digit and each punctuation mark counts as one token. */
const tokensOf = (text: string): number =>
  bytesOf(text.replace(/[\p{N}\p{P}\p{S}]/gu, (one) => (bytesOf(one) < BYTES_PER_TOKEN ? '000' : one))) /
  BYTES_PER_TOKEN;

/**
 * Returns the token limit of an answer: enough for a translation three times as long as its source and for the JSON
 * around it. If the context has less room, returns the rest of the context; null if not even a translation twice as
 * long fits.
 */
function answerTokens(
  messages: readonly Message[],
  texts: readonly string[],
  context: number,
): number | null {
  const request =
    TEMPLATE_TOKENS +
    messages.reduce(
      (sum, { content }) => sum + tokensOf(typeof content === 'string' ? content : JSON.stringify(content)),
      0,
    );
  const source = texts.reduce((sum, text) => sum + tokensOf(text), 0);
  const fixed = 200 + 40 * texts.length;
  const room = Math.floor(Math.min(fixed + 3 * source, context - request, MAX_ANSWER_TOKENS));
  return room < Math.min(fixed + 2 * source, MAX_ANSWER_TOKENS) ? null : room;
}

/**
 * Returns the terms that occur in the batch, whatever endings their words have there. Terms without a source apply to
 * every text and come first, then the longest terms.
 */
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

/** Returns whether a word of the text begins with the term: `item` begins with the term `it`, but `with` does not. */
function begins(term: string, text: string): boolean {
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) {
    if (at === 0 || term === '' || !SPACED.test(term[0]!) || !SPACED.test(text[at - 1]!)) return true;
  }
  return false;
}

/** Values of `finish_reason` for a complete answer. Some servers leave the field out or set it to null. */
const COMPLETE: ReadonlySet<unknown> = new Set(['stop', 'eos_token', 'stop_sequence', null, undefined]);

/** @param most the maximum number of tokens that the request allowed */
function readAnswer(
  result: Extract<HttpResult, { ok: true }>,
  batch: Batch,
  follows: boolean,
  most: number,
): Reply {
  const choices = field(result.json, 'choices');
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  const message = field(choice, 'message');
  const content = field(message, 'content');
  const end = field(choice, 'finish_reason');
  if (end === 'content_filter' || (field(message, 'refusal') ?? '') !== '') {
    return { ok: false, reason: 'refused', detail: "the service's filter rejected the text", divide: true };
  }
  if (end === 'length' || end === 'model_length') {
    return { ok: false, reason: 'garbled', detail: 'the response was cut off (length)', divide: true };
  }
  if (!COMPLETE.has(end)) return malformed('another end than that of an answer', true);
  if (typeof content !== 'string') return malformed('no content');
  const answer = withoutReasoning(content);
  const before = content.length - answer.length;
  const rate: Rate = (spans) => {
    const places = spans.map(([from, to]): Span => [before + from, before + to]);
    return confidencesOf(field(choice, 'logprobs'), content, places, most);
  };
  const reply = follows ? readSegments(answer, batch.texts.length, rate) : readText(answer, rate);
  if (!reply.ok) return reply;
  const label = `${batch.offer.target}:`;
  const isLabeled = (text: string | null, index: number): boolean =>
    text?.startsWith(label) === true && batch.texts[index]?.startsWith(label) !== true;
  return reply.texts.some(isLabeled) ? malformed('a label before the translation', true) : reply;
}

/** Returns the confidences of the translations at these places of an answer; an empty list if they are not known. */
type Rate = (spans: readonly Span[]) => readonly (Confidence | undefined)[];

/** Reads an answer that is one translation. */
function readText(answer: string, rate: Rate): Extract<Reply, { ok: true }> {
  const text = answer.trim();
  const from = answer.length - answer.trimStart().length;
  return { ok: true, texts: [text], confidences: rate([[from, from + text.length]]) };
}

/** Removes the model's reasoning at the start of the content, which some servers leave there. */
function withoutReasoning(content: string): string {
  const written = content.trimStart();
  const end = written.startsWith('<think>') ? written.indexOf('</think>') : -1;
  return end < 0 ? content : written.slice(end + '</think>'.length);
}

/** Removes the code fence that servers without schema support put around the whole response. */
function unfence(content: string): string {
  const written = content.trim();
  const begin = written.indexOf('\n');
  const fenced = /^```(?:json)?\s*$/.test(written.slice(0, begin)) && written.endsWith('```');
  return begin > 0 && fenced ? written.slice(begin, -3) : content;
}

/**
 * Reads replies by id, in any order. If an id is wrong, no reply is used: the model has numbered the texts
 * differently, or merged two of them.
 */
function readSegments(content: string, count: number, rate: Rate): Reply {
  let json: unknown;
  try {
    json = JSON.parse(unfence(content));
  } catch {
    return malformed('content that is not JSON', true);
  }
  const list = field(json, 'segments');
  if (!Array.isArray(list)) return malformed('no segments', true);
  const places = new Map(list.map((each, place) => [String(field(each, 'id')), place]));
  const order = Array.from({ length: count }, (_, index) => places.get(String(index + 1)) ?? -1);
  const texts = order.map((place) => field(list[place], 'target'));
  if (list.length !== count || !texts.every((text) => typeof text === 'string')) {
    return malformed('other segments than the request', true);
  }
  const spans = spansOfTargets(content);
  const rated = spans.length === count ? rate(spans) : [];
  return { ok: true, texts, confidences: order.map((place) => rated[place]) };
}
