/** Writes findings and announcements as sentences in the language of the app. */
import { useTranslate } from '../../i18n.tsx';
import type { CodeKind } from '../text/pieces.ts';
import type { Finding } from './checking.ts';
import { useWorkbench } from './context.tsx';
import type { Announcement } from './state.ts';

/**
 * Returns the function that writes a finding as a sentence. Its second argument is the position of the
 * segment.
 */
export function useSentence(): (finding: Finding, position: number) => string {
  const t = useTranslate();
  const workbench = useWorkbench();
  return ({ check, values }, position) => {
    const { kind, code, text = '' } = values;
    const named = { kind: kind as CodeKind, number: Number(code), text: String(text) };
    const label = kind === undefined ? '' : workbench.labelOf(named, position);
    const shown = Object.entries(values).map(([name, value]) => [name, value === '' ? 'empty' : value]);
    // Names in the `select` of a message cannot have a hyphen.
    const problem = String(values.problem ?? '').replaceAll('-', '_');
    return t(`workbench.check.${check}`, { ...Object.fromEntries(shown), problem, label });
  };
}

export function useAnnouncement(): (what: Announcement) => string {
  const t = useTranslate();
  return (what) => {
    const { type, ...values } = what;
    if (what.type === 'read-only') return t(`workbench.read_only.${what.why}`);
    return t(
      `workbench.announce.${type}` as 'workbench.announce.saved',
      values as Record<string, string | number>,
    );
  };
}
