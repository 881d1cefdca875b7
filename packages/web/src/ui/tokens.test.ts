/** Tests of the colour contrast by WCAG 2.2 AA, computed from tokens.css in both themes. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
const THEMES = ['light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
type Palette = Record<string, Record<Theme, string>>;

function readPalette(text: string): Palette {
  const rows = text.matchAll(/--([\w-]+):\s*light-dark\((#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\)/gi);
  return Object.fromEntries(
    [...rows].map(([, name, light, dark]) => [name!, { light: light!, dark: dark! }]),
  );
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

const TEXT = 4.5;
/** The minimum contrast of icons, edges of controls and the focus ring. */
const SHAPE = 3;

const TONES = ['info', 'success', 'warning', 'danger'];
const GROUNDS = ['bg', 'surface', 'sunken'];
/** Pairs of a foreground and a background colour, with the minimum contrast between them. */
const PAIRS: [string, string, number][] = [
  ...GROUNDS.flatMap((ground): [string, string, number][] => [
    ['text', ground, TEXT],
    ['muted', ground, TEXT],
    ['accent', ground, TEXT],
    ['control', ground, SHAPE],
    ['chip-border', ground, SHAPE],
  ]),
  ...TONES.flatMap((tone): [string, string, number][] => [
    [tone, `${tone}-soft`, TEXT],
    [tone, 'surface', TEXT],
    [tone, 'bg', TEXT],
    ['text', `${tone}-soft`, TEXT],
  ]),
  ['on-accent', 'accent', TEXT],
  ['on-danger', 'danger', TEXT],
  ['on-accent-soft', 'accent-soft', TEXT],
  ['chip-text', 'chip', TEXT],
  ['text', 'active-row', TEXT],
  ['muted', 'active-row', TEXT],
  ['accent', 'active-row', TEXT],
  ['control', 'active-row', SHAPE],
];

function tooClose(palette: Palette): string[] {
  return PAIRS.flatMap(([drawn, ground, least]) =>
    THEMES.flatMap((theme) => {
      const ratio = contrast(palette[drawn]![theme], palette[ground]![theme]);
      return ratio < least ? [`${theme}: ${drawn} on ${ground} is ${ratio.toFixed(2)}, not ${least}`] : [];
    }),
  );
}

it('the contrast function gives the ratios of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
});

describe('the palette', () => {
  it('has enough contrast in every pair of colours', () => {
    expect(tooClose(readPalette(css))).toEqual([]);
  });

  it('fails the contrast test when a colour has too little contrast', () => {
    const planted = css.replace(/--muted:[^;]+;/, '--muted: light-dark(#9a958c, #a9a7a1);');
    expect(tooClose(readPalette(planted)).join('\n')).toContain('light: muted on surface');
  });

  it('has every colour except the border in a tested pair', () => {
    const paired = new Set(PAIRS.flatMap((pair) => pair.slice(0, 2)));
    const decoration = ['border'];
    expect(Object.keys(readPalette(css)).filter((name) => !paired.has(name))).toEqual(decoration);
  });
});

describe('CSS rules for one writing direction', () => {
  /**
   * Returns the CSS rules whose selector names a writing direction, with the properties that they declare.
   */
  const directed = (text: string) =>
    [...text.matchAll(/([^{}]*(?:\[dir|:dir\()[^{}]*)\{([^{}]*)\}/g)].map(([, selector, body]) => ({
      selector: selector!.trim(),
      declares: [...body!.matchAll(/([\w-]+)\s*:/g)].map(([, name]) => name!),
    }));
  const COLOURLESS = ['transform', 'display'];
  const coloured = (text: string) =>
    directed(text).filter(({ declares }) => declares.some((name) => !COLOURLESS.includes(name)));

  it('change no colour, so contrast need not be tested in each direction', () => {
    const root = new URL('../', import.meta.url).pathname;
    const sheets = globSync('**/*.css', { cwd: root }).map((file) => readFileSync(`${root}${file}`, 'utf8'));
    expect(sheets.flatMap(directed).length).toBeGreaterThan(3);
    expect(sheets.flatMap(coloured)).toEqual([]);
  });

  it.each(['[dir="rtl"] .a {\n  color: red;\n}', '.b:dir(rtl) { background: var(--bg); }'])(
    'fail this test when they set a colour: %s',
    (css) => {
      expect(coloured(css)).toHaveLength(1);
    },
  );
});
