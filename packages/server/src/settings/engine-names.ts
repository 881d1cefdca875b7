/** The names of all engines. `DRAGOMAN_ENGINES` and engine routes use these names. */
export const ENGINE_NAMES = [
  'apertium',
  'bergamot',
  'deepl',
  'libretranslate',
  'google',
  'azure',
  'llm',
] as const;

/**
 * The engines that send texts to a service on the network. A test compares this list with the engines'
 * capabilities.
 */
export const REMOTE_ENGINES: readonly string[] = ['deepl', 'libretranslate', 'google', 'azure', 'llm'];

export type EngineName = (typeof ENGINE_NAMES)[number] | `llm:${string}`;

/** Matches the name of a further language model, which has its own settings. */
const NAMED = /^llm:[a-z][a-z0-9]{0,19}$/;

/** Returns the engine of this name, or undefined. */
export function findEngineName(written: string): EngineName | undefined {
  const name = written.trim();
  return NAMED.test(name) ? (name as `llm:${string}`) : ENGINE_NAMES.find((known) => known === name);
}

/** The names of all engines, for messages. */
export const ENGINE_NAMES_TEXT = `${ENGINE_NAMES.join(', ')}, llm:NAME (NAME: up to 20 lower-case letters and digits, a letter first)`;

/** Returns the engines that a route can name: all engines with a fixed name, and the configured `llm:NAME`. */
export function routableEngines({ engines }: { engines: readonly string[] }): string[] {
  return [...new Set([...ENGINE_NAMES, ...engines])];
}

/**
 * Returns whether an engine may translate texts of the sandbox. If `DRAGOMAN_SANDBOX_ENGINES` names no
 * engines, only engines that run on this machine may translate such texts.
 */
export function servesSandbox(
  { sandboxEngines }: { sandboxEngines: readonly string[] },
  engine: string,
): boolean {
  if (sandboxEngines.length > 0) return sandboxEngines.includes(engine);
  return !REMOTE_ENGINES.includes(engine) && !NAMED.test(engine);
}
