/** Writes findings and announcements as sentences in the language of the app. */
import { useTranslate } from '../i18n.tsx';
import type { Finding } from './checking.ts';
import { type CodeKind, labelOf } from './pieces.ts';
import type { Announcement } from './state.ts';

export function useSentence(): (finding: Finding) => string {
  const t = useTranslate();
  return ({ check, values }) => {
    const { kind, code, text = '' } = values;
    const label =
      kind === undefined ? '' : labelOf({ kind: kind as CodeKind, number: Number(code), text: String(text) });
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
