import { expect, test } from 'vitest';
import { rebuild, scan, segments } from '../documents.ts';

/** Returns the page in its target language, without translations. */
function page(text: string, into: string, options: { setLang?: boolean } = { setLang: true }): string {
  const document = scan(text, 'html', { sourceLanguage: 'en', ...options });
  segments(document, 'en');
  return rebuild(document, new Map(), into);
}

test.each([
  ['<!doctype html><html lang="en"><p>a</p></html>', 'es', '<!doctype html><html lang="es"><p>a</p></html>'],
  ["<html class='x' lang='en-GB' dir=ltr>", 'pt-br', "<html class='x' lang='pt-BR' dir=ltr>"],
  ['<html lang=en xml:lang="en" dir="ltr">', 'ar', '<html lang=ar xml:lang="ar" dir="rtl">'],
  ['<HTML LANG = "EN" DIR = LTR>', 'he', '<HTML LANG = "he" DIR = rtl>'],
  ['<html lang="en">', 'ar', '<html lang="ar">'],
])('a page with set_lang declares its target language: %s into %s', (text, into, wanted) => {
  expect(page(text, into)).toBe(wanted);
  expect(page(text, into, {})).toBe(text);
});

test.each([
  '<html><p lang="en">a</p>',
  '<html lang="de">',
  '<html lang="">',
  '<html lang="en" xml:lang="de">',
  '<html dir="ltr">',
  `<html data-a=' lang="en"'>`,
  '<p lang="en">a</p>',
  '<html lang="de"><html lang="en">',
])('a page that does not declare its source language stays as it is: %s', (text) => {
  expect(page(text, 'ar')).toBe(text);
});

test('a page from a right-to-left language gets the direction of its target', () => {
  const document = scan('<html lang="ar" dir="rtl">', 'html', { sourceLanguage: 'ar', setLang: true });
  segments(document, 'ar');
  expect(rebuild(document, new Map(), 'en')).toBe('<html lang="en" dir="ltr">');
});
