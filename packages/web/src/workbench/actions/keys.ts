/**
 * The table of all keyboard shortcuts of the workbench. Handlers, buttons, the help and tests use it.
 *
 * The table has no shortcut with Ctrl+Alt (AltGr on Windows), none with Alt and a letter or digit (they write
 * characters) and no shortcut of browsers. `Mod` is Command on a Mac and Ctrl elsewhere; `Ctrl` is Ctrl
 * everywhere.
 */

/**
 * Where a shortcut works.
 *
 * - `anywhere`: anywhere in the workbench.
 * - `segment`: anywhere except in fields other than a target, such as a comment.
 * - `target`: in the text of a target.
 * - `row`: on a row, and on the active segment of the flow view unless `reading` has another action for the key.
 * - `reading`: on the active segment of the flow view, while its text is not edited.
 * - `outside`: outside every field.
 */
export type Where = 'anywhere' | 'segment' | 'target' | 'row' | 'reading' | 'outside';
/** Where the focus is when a key is pressed. */
export type Place = 'target' | 'row' | 'reading' | 'outside' | 'field';

export type Group = 'moving' | 'flow' | 'segment' | 'codes' | 'help' | 'task' | 'review';

export type ActionId =
  | 'confirm'
  | 'reopen'
  | 'previous'
  | 'next'
  | 'previousOpen'
  | 'nextOpen'
  | 'save'
  | 'find'
  | 'replace'
  | 'filter'
  | 'goTo'
  | 'comment'
  | 'lineBreak'
  | 'complete'
  | 'leave'
  | 'codes'
  | 'nextCode'
  | 'collapseCodes'
  | 'moveCodeBack'
  | 'moveCodeOn'
  | 'use1'
  | 'use2'
  | 'use3'
  | 'use4'
  | 'use5'
  | 'cyclePrevious'
  | 'cycleNext'
  | 'copySource'
  | 'reset'
  | 'concordance'
  | 'plainText'
  | 'preview'
  | 'view'
  | 'readOn'
  | 'readBack'
  | 'nextDoubt'
  | 'previousDoubt'
  | 'issue'
  | 'unsure'
  | 'join'
  | 'separate'
  | 'term'
  | 'ask'
  | 'help'
  | 'rowPrevious'
  | 'rowNext'
  | 'edit'
  | 'select';

export interface Binding {
  action: ActionId;
  /** The combinations of keys. Buttons and the key bar show the first one. */
  keys: readonly string[];
  /** The combinations on a Mac, if they differ. */
  mac?: readonly string[];
  where: Where;
  group: Group;
}

export const bindings: readonly Binding[] = [
  { action: 'confirm', keys: ['Mod+Enter'], where: 'segment', group: 'segment' },
  { action: 'reopen', keys: ['Mod+Shift+Enter'], where: 'segment', group: 'segment' },
  { action: 'previous', keys: ['Alt+ArrowUp'], where: 'anywhere', group: 'moving' },
  { action: 'next', keys: ['Alt+ArrowDown'], where: 'anywhere', group: 'moving' },
  { action: 'previousOpen', keys: ['Alt+PageUp'], where: 'anywhere', group: 'moving' },
  { action: 'nextOpen', keys: ['Alt+PageDown'], where: 'anywhere', group: 'moving' },
  { action: 'save', keys: ['Mod+S'], where: 'anywhere', group: 'task' },
  { action: 'find', keys: ['Mod+F'], where: 'anywhere', group: 'moving' },
  { action: 'replace', keys: ['Mod+H'], mac: ['Mod+Alt+F'], where: 'anywhere', group: 'moving' },
  { action: 'filter', keys: ['Mod+Shift+F'], mac: ['Ctrl+Shift+F'], where: 'anywhere', group: 'moving' },
  { action: 'goTo', keys: ['Mod+G'], mac: ['Ctrl+G'], where: 'anywhere', group: 'moving' },
  { action: 'comment', keys: ['Mod+M'], mac: ['Ctrl+M'], where: 'anywhere', group: 'task' },
  { action: 'unsure', keys: ['Mod+U'], where: 'segment', group: 'segment' },
  { action: 'join', keys: ['Mod+B'], where: 'segment', group: 'segment' },
  { action: 'separate', keys: ['Mod+Shift+B'], where: 'segment', group: 'segment' },
  { action: 'term', keys: ['Mod+E'], where: 'anywhere', group: 'segment' },
  { action: 'ask', keys: ['Mod+J'], where: 'anywhere', group: 'task' },
  { action: 'lineBreak', keys: ['Shift+Enter'], where: 'target', group: 'segment' },
  // If no completion is shown, Tab moves the focus as usual.
  { action: 'complete', keys: ['Tab'], where: 'target', group: 'segment' },
  { action: 'leave', keys: ['Escape'], where: 'target', group: 'moving' },
  { action: 'nextCode', keys: ['F8'], where: 'target', group: 'codes' },
  { action: 'codes', keys: ['<', 'Shift+F8'], where: 'target', group: 'codes' },
  { action: 'collapseCodes', keys: ['F9'], where: 'segment', group: 'codes' },
  { action: 'moveCodeBack', keys: ['Alt+Shift+ArrowLeft'], mac: ['Ctrl+,'], where: 'target', group: 'codes' },
  { action: 'moveCodeOn', keys: ['Alt+Shift+ArrowRight'], mac: ['Ctrl+.'], where: 'target', group: 'codes' },
  { action: 'use1', keys: ['Ctrl+1'], where: 'segment', group: 'segment' },
  { action: 'use2', keys: ['Ctrl+2'], where: 'segment', group: 'segment' },
  { action: 'use3', keys: ['Ctrl+3'], where: 'segment', group: 'segment' },
  { action: 'use4', keys: ['Ctrl+4'], where: 'segment', group: 'segment' },
  { action: 'use5', keys: ['Ctrl+5'], where: 'segment', group: 'segment' },
  { action: 'cyclePrevious', keys: ['Mod+Shift+ArrowUp'], where: 'target', group: 'segment' },
  { action: 'cycleNext', keys: ['Mod+Shift+ArrowDown'], where: 'target', group: 'segment' },
  { action: 'copySource', keys: ['Mod+O'], where: 'segment', group: 'segment' },
  { action: 'reset', keys: ['Mod+Shift+Backspace'], where: 'segment', group: 'segment' },
  { action: 'concordance', keys: ['Mod+K'], where: 'anywhere', group: 'segment' },
  { action: 'plainText', keys: ['F2'], where: 'segment', group: 'codes' },
  { action: 'preview', keys: ['F4'], where: 'anywhere', group: 'task' },
  { action: 'view', keys: ['Shift+F4'], where: 'anywhere', group: 'task' },
  { action: 'issue', keys: ['Mod+I'], where: 'anywhere', group: 'review' },
  { action: 'help', keys: ['Mod+/'], where: 'anywhere', group: 'help' },
  { action: 'help', keys: ['?'], where: 'outside', group: 'help' },
  // These shortcuts come before those of rows, because `actionOf` returns the first match.
  { action: 'readOn', keys: ['Space'], where: 'reading', group: 'flow' },
  { action: 'readBack', keys: ['Shift+Space'], where: 'reading', group: 'flow' },
  { action: 'nextDoubt', keys: ['Tab'], where: 'reading', group: 'flow' },
  { action: 'previousDoubt', keys: ['Shift+Tab'], where: 'reading', group: 'flow' },
  { action: 'rowPrevious', keys: ['ArrowUp'], where: 'row', group: 'moving' },
  { action: 'rowNext', keys: ['ArrowDown'], where: 'row', group: 'moving' },
  { action: 'edit', keys: ['Enter'], where: 'row', group: 'moving' },
  { action: 'select', keys: ['Space'], where: 'row', group: 'segment' },
];

/** Shortcuts that browsers or desktops reserve, or that users expect to have their usual effect there. */
export const reserved: readonly string[] = [
  'Mod+T',
  'Mod+N',
  'Mod+W',
  'Mod+Q',
  'Mod+Tab',
  'Mod+Shift+T',
  'Mod+Shift+N',
  'Mod+Shift+W',
  'Mod+Shift+I',
  'Mod+Shift+Tab',
  // The emoji chooser of Linux, which opens whatever the page does.
  'Mod+.',
  'Mod+;',
  'Mod+PageUp',
  'Mod+PageDown',
  'Mod+Insert',
  'Mod+Shift+Insert',
  'Mod+C',
  'Mod+V',
  'Mod+X',
  'Mod+A',
  'Mod+Z',
  'Mod+Shift+Z',
  'Mod+Y',
  'Mod+L',
  'Mod+R',
  'Mod+P',
  'Mod+D',
  'Shift+Tab',
  'F1',
  'F5',
  'F6',
  'F7',
  'F11',
  'F12',
  'Alt+F4',
  'Alt+ArrowLeft',
  'Alt+ArrowRight',
];

/** The part of a `KeyboardEvent` that identifies a key. */
export interface KeyPress {
  key: string;
  code: string;
  ctrlKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  metaKey: boolean;
  isComposing: boolean;
  keyCode: number;
  getModifierState(name: 'AltGraph'): boolean;
}

export const keysOf = (binding: Binding, mac: boolean): readonly string[] =>
  (mac && binding.mac) || binding.keys;

/** Returns the action of a pressed key in a place. While an input method composes, keys have no action. */
export function actionOf(press: KeyPress, place: Place, mac: boolean): ActionId | undefined {
  if (press.isComposing || press.keyCode === 229 || press.getModifierState('AltGraph')) return undefined;
  return bindings.find(
    (binding) =>
      isHere(binding.where, place) && keysOf(binding, mac).some((key) => isPressed(parse(key), press, mac)),
  )?.action;
}

const isHere = (where: Where, place: Place) =>
  where === 'anywhere' ||
  where === place ||
  (where === 'segment' && place !== 'field') ||
  (where === 'row' && place === 'reading') ||
  (where === 'outside' && (place === 'row' || place === 'reading'));

export interface Combination {
  mod: boolean;
  ctrl: boolean;
  alt: boolean;
  shift: boolean;
  key: string;
}

export function parse(keys: string): Combination {
  const parts = keys.split('+');
  const key = parts.pop()!;
  return {
    mod: parts.includes('Mod'),
    ctrl: parts.includes('Ctrl'),
    alt: parts.includes('Alt'),
    shift: parts.includes('Shift'),
    key: key === 'Space' ? ' ' : key,
  };
}

function isPressed(wanted: Combination, press: KeyPress, mac: boolean): boolean {
  const ctrl = wanted.ctrl || (wanted.mod && !mac);
  const meta = wanted.mod && mac;
  if (press.ctrlKey !== ctrl || press.metaKey !== meta || press.altKey !== wanted.alt) return false;
  // Shift is ignored for punctuation, because the keyboard layout decides whether a sign needs Shift.
  const sign = wanted.key.length === 1 && !/[A-Z0-9 ]/.test(wanted.key);
  if (!sign && press.shiftKey !== wanted.shift) return false;
  return namesOf(press).includes(wanted.key);
}

/**
 * Returns the names of a pressed key: the character it writes and, for non-Latin layouts and for digits that need Shift
 * (French), the name of its place on the keyboard.
 */
function namesOf(press: KeyPress): string[] {
  const { key, code } = press;
  // WebKit on Linux does not name Shift+Tab.
  const names = [key.length === 1 ? key.toUpperCase() : key === 'Unidentified' ? code : key];
  if (key.length === 1 && key.charCodeAt(0) > 0x7f) names.push(placeOf(code));
  if (/^Digit\d$/.test(code) && press.ctrlKey) names.push(code.slice(5));
  return names;
}

const signs: Record<string, string> = { Comma: ',', Period: '.', Slash: '/' };

function placeOf(code: string): string {
  return /^Key[A-Z]$/.test(code) ? code.slice(3) : (signs[code] ?? code);
}

/** Returns true if a key writes a character into a text field. With AltGr, Windows also reports Ctrl and Alt. */
export function isCharacter(press: KeyPress): boolean {
  const modified = (press.ctrlKey || press.altKey) && !press.getModifierState('AltGraph');
  return !modified && !press.metaKey && !press.isComposing && [...press.key].length === 1;
}

/** The keys of browsers that change or select a text, as they do in every field. */
const IN_FIELDS = ['Mod+A', 'Mod+V', 'Mod+Backspace'].map(parse);

/** Returns true if a key that is pressed on a row is meant for its text. */
export const entersText = (press: KeyPress, mac: boolean): boolean =>
  isCharacter(press) || IN_FIELDS.some((keys) => isPressed(keys, press, mac));

/** Returns the key caps of a combination. They are the same in every language of the app. */
export function capsOf(keys: string, mac: boolean): string[] {
  const { mod, ctrl, alt, shift, key } = parse(keys);
  return [
    ...(ctrl || (mod && !mac) ? [mac ? '⌃' : 'Ctrl'] : []),
    ...(alt ? [mac ? '⌥' : 'Alt'] : []),
    ...(shift ? ['⇧'] : []),
    ...(mod && mac ? ['⌘'] : []),
    capOf(key),
  ];
}

const caps: Record<string, string> = {
  ArrowUp: '↑',
  ArrowDown: '↓',
  PageUp: 'PgUp',
  PageDown: 'PgDn',
  Enter: '↵',
  Escape: 'Esc',
  Backspace: '⌫',
  ' ': '␣',
};

const capOf = (key: string) => caps[key] ?? key;

/** Returns the key caps that a button or the key bar shows for an action. */
export function hintOf(action: ActionId, mac: boolean): string[] {
  const binding = bindings.find((one) => one.action === action)!;
  return capsOf(keysOf(binding, mac)[0]!, mac);
}

/** Returns the value of `aria-keyshortcuts` for an action. */
export function ariaKeys(action: ActionId, mac: boolean): string {
  const binding = bindings.find((one) => one.action === action)!;
  return keysOf(binding, mac)
    .map((keys) => keys.replace('Mod', mac ? 'Meta' : 'Control').replace('Ctrl', 'Control'))
    .join(' ');
}
