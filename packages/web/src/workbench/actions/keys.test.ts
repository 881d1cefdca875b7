import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  actionOf,
  bindings,
  isCharacter,
  type KeyPress,
  keysOf,
  parse,
  reserved,
  type Where,
} from './keys.ts';

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key,
  code: '',
  ctrlKey: false,
  altKey: false,
  shiftKey: false,
  metaKey: false,
  isComposing: false,
  keyCode: 0,
  getModifierState: () => false,
  ...more,
});

const combinations = [false, true].flatMap((mac) =>
  bindings.flatMap((binding) => keysOf(binding, mac).map((keys) => ({ ...binding, mac, keys }))),
);
const wide = (where: Where) => where === 'anywhere' || where === 'segment';
const meets = (one: Where, other: Where) =>
  one === other || wide(one) || wide(other) || /^outside,(reading|row)$/.test([one, other].sort().join());

test('no shortcut has two actions in the same place', () => {
  for (const [index, one] of combinations.entries()) {
    for (const other of combinations.slice(index + 1)) {
      if (one.mac === other.mac && one.keys === other.keys) expect(meets(one.where, other.where)).toBe(false);
    }
  }
});

test('no shortcut is reserved by browsers or writes a character', () => {
  for (const { keys, mac, action } of combinations) {
    const { mod, ctrl, alt, key } = parse(keys);
    // An exception: browsers use Tab and Shift+Tab to move the focus. These two actions may use them, because the keys
    // still move the focus when there is no further doubtful segment.
    if (action === 'nextDoubt' || action === 'previousDoubt') continue;
    expect(reserved, keys).not.toContain(keys);
    if (!mac) expect(reserved, keys).not.toContain(keys.replace('Ctrl', 'Mod'));
    // On Windows, AltGr is Ctrl+Alt and writes characters. On a Mac, Command with Option writes none.
    expect(alt && (ctrl || (mod && !mac)), keys).toBe(false);
    expect(alt && !mod && /^[A-Z0-9]$/.test(key), keys).toBe(false);
  }
});

test('each shortcut performs the action of its binding', () => {
  for (const { keys, mac, where, action } of combinations) {
    const { mod, ctrl, alt, shift, key } = parse(keys);
    const pressed = press(/^[A-Z]$/.test(key) ? key.toLowerCase() : key, {
      ctrlKey: ctrl || (mod && !mac),
      metaKey: mod && mac,
      altKey: alt,
      shiftKey: shift,
    });
    expect(actionOf(pressed, where === 'anywhere' || where === 'segment' ? 'target' : where, mac), keys).toBe(
      action,
    );
    expect(actionOf({ ...pressed, isComposing: true }, 'target', mac)).toBeUndefined();
    expect(actionOf({ ...pressed, keyCode: 229 }, 'target', mac)).toBeUndefined();
    expect(actionOf({ ...pressed, getModifierState: () => true }, 'target', mac)).toBeUndefined();
  }
});

test('shortcuts work on keyboard layouts without Latin letters or with digits that need Shift', () => {
  expect(actionOf(press('ы', { code: 'KeyS', ctrlKey: true }), 'target', false)).toBe('save');
  expect(actionOf(press('б', { code: 'Comma', ctrlKey: true }), 'target', true)).toBe('moveCodeBack');
  expect(actionOf(press('щ', { code: 'KeyO', metaKey: true }), 'target', true)).toBe('copySource');
  expect(actionOf(press('&', { code: 'Digit1', ctrlKey: true }), 'target', false)).toBe('use1');
  // A Latin character identifies the key even if the key is at another place: on Dvorak, S is where QWERTY
  // has the semicolon.
  expect(actionOf(press('s', { code: 'Semicolon', ctrlKey: true }), 'target', false)).toBe('save');
  expect(actionOf(press('o', { code: 'KeyS', ctrlKey: true }), 'target', false)).toBe('copySource');
});

test('Ctrl+Enter in a comment or a search field does not confirm a segment', () => {
  expect(actionOf(press('Enter', { ctrlKey: true }), 'field', false)).toBeUndefined();
  expect(actionOf(press('s', { ctrlKey: true }), 'field', false)).toBe('save');
});

test('a typed character performs no action of a shortcut', () => {
  for (const key of ['a', 'Enter', 'ArrowUp', 'Home', ' ', '?', '1', 'é']) {
    expect(actionOf(press(key), 'target', false)).toBeUndefined();
  }
  expect(actionOf(press('?', { shiftKey: true }), 'row', false)).toBe('help');
  const polish = press('ń', { ctrlKey: true, altKey: true, code: 'KeyN' });
  expect(actionOf(polish, 'target', false)).toBeUndefined();
});

test.each(['en', 'de', 'ar'])('every shortcut has a message in %s', (language) => {
  const file = new URL(`../messages/${language}.json`, import.meta.url);
  const messages = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  for (const { action, group } of bindings) {
    expect(messages[`workbench.key.${action}`], action).toBeTruthy();
    expect(messages[`workbench.keys.${group}`], group).toBeTruthy();
  }
});

test('a key with AltGr writes a character, and a shortcut, a function key or a composing key does not', () => {
  const altGraph = { ctrlKey: true, altKey: true, getModifierState: () => true };
  expect(isCharacter(press('q'))).toBe(true);
  expect(isCharacter(press('@', altGraph))).toBe(true);
  expect(isCharacter(press('q', { ctrlKey: true }))).toBe(false);
  expect(isCharacter(press('q', { metaKey: true }))).toBe(false);
  expect(isCharacter(press('F8'))).toBe(false);
  expect(isCharacter(press('q', { isComposing: true }))).toBe(false);
});
