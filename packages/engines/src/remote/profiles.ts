/**
 * The families of language models. Each family has a request that its models were trained for. The prompts are those of
 * the published model cards, because these models translate worse, or not at all, with other words.
 */

import type { Language } from '../engine.ts';
import type { OfferedDirection } from './remote.ts';

export interface Message {
  role: 'system' | 'user';
  content: string | readonly object[];
}

export interface Profile {
  /** Matches the names of the family's models. Null for the profiles that belong to no family. */
  models: RegExp | null;
  /**
   * Writes the request for one text, for a model that can only translate. Null for a model that follows instructions:
   * it gets many texts at once, with tone, instructions, terms and context, and answers with JSON.
   */
  prompt: ((text: string, offer: OfferedDirection) => Message['content']) | null;
  /** The context length in tokens, for the request and the answer together. */
  context: number;
  /** The parameters that the model card recommends. */
  parameters: Readonly<Record<string, unknown>>;
  /**
   * What the license of the weights forbids, worded as the end of a sentence. Absent for licenses that allow every use.
   */
  restriction?: string;
}

const SAMPLING = { temperature: 0.7, top_p: 0.6, top_k: 20, repetition_penalty: 1.05 };

export const PROFILES = {
  chat: { models: null, prompt: null, context: 8_192, parameters: {} },
  tower: {
    models: /tower-?(?:instruct|plus|\+)/i,
    prompt: completePrompt,
    context: 4_096,
    parameters: {},
    restriction: 'forbids commercial use',
  },
  // `translategemma` and `translategemma:4b` are names of Ollama, which has no chat template with language codes.
  'translategemma-ollama': {
    models: /(?:^|\/)translate-?gemma(?::|$)/i,
    prompt: (text, { from, to, source, target }) =>
      `You are a professional ${source} (${gemmaCode(from)}) to ${target} (${gemmaCode(to)}) translator. Your goal is to accurately convey the meaning and nuances of the original ${source} text while adhering to ${target} grammar, vocabulary, and cultural sensitivities.\nProduce only the ${target} translation, without any additional explanations or commentary. Please translate the following ${source} text into ${target}:\n\n\n${text}`,
    context: 4_096,
    parameters: {},
  },
  // The model's chat template writes the prompt. It accepts only a list with one entry as the content.
  translategemma: {
    models: /translate-?gemma/i,
    prompt: (text, { from, to }) => [
      { type: 'text', source_lang_code: gemmaCode(from), target_lang_code: gemmaCode(to), text },
    ],
    context: 4_096,
    parameters: {},
  },
  hunyuan2: {
    models: /hy-?mt-?2/i,
    prompt: (text, { from, to, target }) =>
      isChinese(from) || isChinese(to)
        ? chinesePrompt(text, to)
        : `Translate the following text into ${target}. Note that you should only output the translated result without any additional explanation:\n\n${text}`,
    context: 8_192,
    parameters: SAMPLING,
  },
  hunyuan: {
    models: /(?:hy|hunyuan)-?mt/i,
    prompt: (text, { from, to, target }) =>
      isChinese(from) || isChinese(to)
        ? chinesePrompt(text, to)
        : `Translate the following segment into ${target}, without additional explanation.\n\n${text}`,
    context: 8_192,
    parameters: SAMPLING,
    restriction: 'does not apply in the European Union, the United Kingdom and South Korea',
  },
  plain: { models: null, prompt: completePrompt, context: 8_192, parameters: {} },
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof PROFILES;
export const PROFILE_NAMES = Object.keys(PROFILES) as ProfileName[];

/** Returns the profile for the name of a model; `chat` if the name belongs to no family. */
export function profileFor(model: string): ProfileName {
  return PROFILE_NAMES.find((name) => PROFILES[name].models?.test(model)) ?? 'chat';
}

/**
 * Returns what the license of a model's weights forbids, or undefined. The restriction applies even if the operator
 * chose another profile for the model.
 */
export function restrictionOf(model: string, profile: ProfileName = profileFor(model)): string | undefined {
  const profiles: Profile[] = [PROFILES[profile], PROFILES[profileFor(model)]];
  return profiles.find(({ restriction }) => restriction !== undefined)?.restriction;
}

/** The prompt of TowerInstruct: the model completes the text. */
function completePrompt(text: string, { source, target }: OfferedDirection): string {
  return `Translate the following text from ${source} into ${target}.\n${source}: ${text}\n${target}:`;
}

/** The prompt of Hunyuan-MT for pairs with Chinese, which names the target language in Chinese. */
function chinesePrompt(text: string, to: Language): string {
  return `将以下文本翻译为${languageName(to, 'zh')}，注意只需要输出翻译后的结果，不要额外解释：\n\n${text}`;
}

const isChinese = (language: Language): boolean => /^zh(?:-|$)/.test(language);

/** Returns the code that TranslateGemma uses, such as `pt-BR` for `pt-br`, and `zh-Hant` for `zh-tw`. */
function gemmaCode(language: Language): string {
  const locale = new Intl.Locale(language);
  if (locale.language !== 'zh' || locale.region === undefined) return locale.toString();
  return `zh-${locale.maximize().script}`;
}

/** Returns the name of a language in English or Chinese, such as `Brazilian Portuguese` for `pt-br`. */
export function languageName(language: Language, inLanguage: 'en' | 'zh' = 'en'): string {
  try {
    return NAMES[inLanguage].of(language) ?? language;
  } catch {
    return language;
  }
}

const NAMES = {
  en: new Intl.DisplayNames(['en'], { type: 'language' }),
  zh: new Intl.DisplayNames(['zh'], { type: 'language' }),
};
