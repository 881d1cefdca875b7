/** Engine for the DeepL API, version 2, and compatible servers. */

import type { Engine, Language } from '../engine.ts';
import { XML } from '../markup.ts';
import type { RemoteOptions, ServiceAdapter } from './remote.ts';
import { allPairs, failure, field, positional, RemoteEngine, strings } from './remote.ts';

export interface DeepLOptions extends RemoteOptions {
  key: string;
  /** The `model_type` parameter, for example `prefer_quality_optimized`. */
  model?: string;
  /** Whether to send `custom_instructions`, which not every plan accepts. Default: false. */
  instructions?: boolean;
}

export function createDeepL(options: DeepLOptions): Engine {
  return new RemoteEngine(deepL(options), options);
}

function deepL({ key, model, instructions = false }: DeepLOptions): ServiceAdapter {
  return {
    name: 'deepl',
    // DeepL applies only glossaries that were created in advance. So terms are inserted as protected words.
    capabilities: {
      codes: 'kept',
      terms: false,
      tone: true,
      instructions,
      context: true,
      remote: true,
    },
    notation: XML,
    // DeepL accepts bodies of at most 128 KiB. A body with 25,000 characters and their tags is smaller, even
    // if each character takes four bytes.
    limits: { segments: 50, characters: 25_000 },
    settings: { instructions },
    ...(model === undefined ? {} : { model }),
    headers: { authorization: `DeepL-Auth-Key ${key}` },

    async list(send) {
      const source = await send({ method: 'GET', path: '/v2/languages?type=source' });
      if (!source.ok) return source;
      const target = await send({ method: 'GET', path: '/v2/languages?type=target' });
      if (!target.ok) return target;
      const codes = (json: unknown): string[] =>
        (strings(json, 'language') ?? []).filter((code) => code !== null);
      const targets = codes(target.json);
      return allPairs(
        codes(source.json).flatMap((code) => sourcesOf(code)),
        targets.flatMap((code) => targetsOf(code, targets)),
      );
    },

    health: (send) => send({ method: 'GET', path: '/v2/usage' }),

    async translate(send, { offer, texts, marked, sources, context }) {
      const before = sources[0]?.segment.before;
      const result = await send({
        method: 'POST',
        path: '/v2/translate',
        body: {
          text: texts,
          source_lang: offer.source,
          target_lang: offer.target,
          ...(before === undefined || before === '' ? {} : { context: before.slice(-1_000) }),
          ...formality(context.tone),
          ...(instructions && context.instructions ? { custom_instructions: cut(context.instructions) } : {}),
          ...(model === undefined ? {} : { model_type: model }),
          ...(marked ? { tag_handling: 'xml', ignore_tags: ['k'], outline_detection: false } : {}),
          // A segment is one sentence. If DeepL split it further, sentences with abbreviations would break.
          split_sentences: 'nonewlines',
          preserve_formatting: true,
        },
      });
      if (!result.ok) return failure(result);
      return positional(strings(field(result.json, 'translations'), 'text'), texts.length);
    },
  };
}

/**
 * Returns DeepL's parameter for the tone. With the values `prefer_…`, languages without formal and informal address
 * cause no error.
 */
function formality(tone: string | undefined): { formality?: string } {
  const word = tone?.toLowerCase();
  if (word === 'formal') return { formality: 'prefer_more' };
  if (word === 'informal') return { formality: 'prefer_less' };
  return {};
}

/** Splits instructions at the ends of lines and sentences into at most ten parts of 300 characters. */
export function cut(instructions: string): string[] {
  const out: string[] = [];
  for (const part of instructions.split(/\n+|(?<=[.!?])\s+/u)) {
    const text = part.trim();
    const last = out.at(-1);
    if (text === '') continue;
    if (last !== undefined && last.length + text.length < 300) out[out.length - 1] = `${last} ${text}`;
    else for (let at = 0; at < text.length; at += 300) out.push(text.slice(at, at + 300).toWellFormed());
  }
  return out.slice(0, 10);
}

/** DeepL lists source languages without a region. A source language with a region is sent as the listed language. */
function sourcesOf(code: string): [Language, string][] {
  const apiCode = code.toLowerCase();
  const regions: Readonly<Record<string, Language[]>> = {
    en: ['en-us', 'en-gb'],
    pt: ['pt-br', 'pt-pt'],
    zh: ['zh-hans', 'zh-hant'],
    es: ['es-419'],
    fr: ['fr-ca'],
  };
  return [apiCode, ...(regions[apiCode] ?? [])].map((language) => [language, code]);
}

/** DeepL requires a region for some targets: `en` becomes American English, `pt` European Portuguese. */
function targetsOf(code: string, all: readonly string[]): [Language, string][] {
  const apiCode = code.toLowerCase();
  const plain: Readonly<Record<string, Language>> = { 'en-us': 'en', 'pt-pt': 'pt', 'zh-hans': 'zh' };
  const short = plain[apiCode];
  if (short !== undefined && !all.some((each) => each.toLowerCase() === short)) {
    return [
      [apiCode, code],
      [short, code],
    ];
  }
  return [[apiCode, code]];
}
