/** Every engine that there is; `DRAGOMAN_ENGINES` and routes name them so. */
export const ENGINE_NAMES = ['apertium', 'deepl', 'libretranslate', 'google', 'azure', 'chat'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];
