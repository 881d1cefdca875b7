/** Warnings that a starting server logs about risky settings. */
import type { Log } from '../base/log.ts';
import { servesSandbox } from '../settings/engine-names.ts';
import type { Settings } from '../settings/settings.ts';

/** Engines that charge for translations, even if `DRAGOMAN_ENGINE_COSTS` does not name them. */
const CHARGING: ReadonlySet<string> = new Set(['deepl', 'google', 'azure']);

/** Logs a warning for each risky setting. */
export function warnOfSettings(settings: Settings, log: Log): void {
  if (process.getuid?.() === 0) {
    log.warn(
      'running as root, together with engines and database; use an unprivileged user (deploy/dragoman.service)',
    );
  }
  const paid = settings.engines.filter((name) => CHARGING.has(name) || (settings.engineCosts[name] ?? 0) > 0);
  const paidInSandbox = paid.filter((name) => servesSandbox(settings, name));
  if (settings.sandboxRequests === 'at-once' && paidInSandbox.length > 0) {
    log.warn(
      { name: paidInSandbox.join(', ') },
      'anybody can get a sandbox account and use engines that you pay for; set DRAGOMAN_SANDBOX_REQUESTS to operator',
    );
  }
  if (settings.machineCentsPerWord === 0 && paid.length > 0) {
    log.warn(
      { name: paid.join(', ') },
      'machine translation is free for every account, but these engines charge you; set DRAGOMAN_PRICE_MACHINE or "pair price"',
    );
  }
  if (!settings.engines.some((name) => servesSandbox(settings, name))) {
    log.warn(
      { name: settings.engines.join(', ') },
      'the sandbox offers no language pair, because every engine sends texts to a service; set DRAGOMAN_SANDBOX_ENGINES to use one',
    );
  }
}
