/** DeepL's interface, version 2, as the vendor serves it and others imitate it. */

import type { Engine, Language } from '../engine.ts';
import { XML } from '../markup.ts';
import type { RemoteOptions, Service } from './remote.ts';
import { cross, failure, field, positional, Remote, strings } from './remote.ts';

export interface DeepLOptions extends RemoteOptions {
  key: string;
  /** `model_type`, e.g. `prefer_quality_optimized`. */
  model?: string;
  /** The plan takes `custom_instructions`, so the customer's are sent. Default: no. */
  instructions?: boolean;
}

export function createDeepL(options: DeepLOptions): Engine {
  return new Remote(deepL(options), options);
}

function deepL({ key, model, instructions = false }: DeepLOptions): Service {
  return {
    name: 'deepl',
    // Its glossaries are things made beforehand with an address each: terms are put in place before it instead.
    capabilities: {
      codes: 'kept',
      terms: false,
      tone: true,
      instructions,
      context: true,
      remote: true,
    },
    notation: XML,
    // 128 KiB of body, which a text of four-byte characters and tags must not pass.
    limits: { segments: 50, characters: 25_000 },
    settings: { instructions },
    ...(model === undefined ? {} : { model }),
    headers: { authorization: `DeepL-Auth-Key ${key}` },

    async list(ask) {
      const source = await ask({ method: 'GET', path: '/v2/languages?type=source' });
      if (!source.ok) return source;
      const target = await ask({ method: 'GET', path: '/v2/languages?type=target' });
      if (!target.ok) return target;
      const codes = (json: unknown): string[] =>
        (strings(json, 'language') ?? []).filter((code) => code !== null);
      const targets = codes(target.json);
      return cross(
        codes(source.json).flatMap((code) => sourcesOf(code)),
        targets.flatMap((code) => targetsOf(code, targets)),
      );
    },

    health: (ask) => ask({ method: 'GET', path: '/v2/usage' }),

    async translate(ask, { offer, texts, marked, sources, context }) {
      const before = sources[0]?.segment.before;
      const answer = await ask({
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
          // We send sentences; a second cutting would only hurt those with an abbreviation in them.
          split_sentences: 'nonewlines',
          preserve_formatting: true,
        },
      });
      if (!answer.ok) return failure(answer);
      return positional(strings(field(answer.json, 'translations'), 'text'), texts.length);
    },
  };
}

/** `prefer_`: languages without forms of address take it without an error. */
function formality(tone: string | undefined): { formality?: string } {
  const word = tone?.toLowerCase();
  if (word === 'formal') return { formality: 'prefer_more' };
  if (word === 'informal') return { formality: 'prefer_less' };
  return {};
}

/** Ten of 300 characters at most, cut at the ends of lines and sentences. */
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

/** A source is named without its region; ours with one are translated from the plain language. */
function sourcesOf(code: string): [Language, string][] {
  const ours = code.toLowerCase();
  const regions: Readonly<Record<string, Language[]>> = {
    en: ['en-us', 'en-gb'],
    pt: ['pt-br', 'pt-pt'],
    zh: ['zh-hans', 'zh-hant'],
    es: ['es-419'],
    fr: ['fr-ca'],
  };
  return [ours, ...(regions[ours] ?? [])].map((language) => [language, code]);
}

/** A target may need its region: `en` is American and `pt` European English and Portuguese. */
function targetsOf(code: string, all: readonly string[]): [Language, string][] {
  const ours = code.toLowerCase();
  const plain: Readonly<Record<string, Language>> = { 'en-us': 'en', 'pt-pt': 'pt', 'zh-hans': 'zh' };
  const short = plain[ours];
  if (short !== undefined && !all.some((each) => each.toLowerCase() === short)) {
    return [
      [ours, code],
      [short, code],
    ];
  }
  return [[ours, code]];
}
