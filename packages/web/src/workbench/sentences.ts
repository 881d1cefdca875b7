/** What the checks found, and what is announced, as sentences in the language of the app. */
import { useSay } from '../words.tsx';
import type { Finding } from './checking.ts';
import { type CodeKind, labelOf } from './pieces.ts';
import type { Announcement } from './workbench.ts';

export function useSentence(): (finding: Finding) => string {
  const say = useSay();
  return ({ check, values }) => {
    const { kind, code, text = '' } = values;
    const label =
      kind === undefined ? '' : labelOf({ kind: kind as CodeKind, number: Number(code), text: String(text) });
    const said = Object.entries(values).map(([name, value]) => [name, value === '' ? 'empty' : value]);
    // Messages choose by a name, which has no hyphen.
    const problem = String(values.problem ?? '').replaceAll('-', '_');
    return say(`workbench.check.${check}`, { ...Object.fromEntries(said), problem, label });
  };
}

export function useAnnouncement(): (what: Announcement) => string {
  const say = useSay();
  return (what) => {
    const { say: name, ...values } = what;
    if (what.say === 'read-only') return say(`workbench.read_only.${what.why}`);
    return say(`workbench.said.${name}` as 'workbench.said.saved', values as Record<string, string | number>);
  };
}
