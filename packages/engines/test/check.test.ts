/** Tests of the checks of replies: correct translations that look unusual, and replies that are no translations. */

import { describe, expect, test } from 'vitest';
import { faultOf as engineFaultOf, modelFaultOf, serviceFaultOf } from '../src/check.ts';
import type { Piece } from '../src/engines.ts';

/** Splits a text at its placeholders `{{name}}`, which become protected words. */
const protectedOf = (text: string): Piece[] =>
  text
    .split(/(\{\{\w+\}\})/)
    .filter((part) => part !== '')
    .map((part, keep) => (part.startsWith('{{') ? { keep, text: part } : { text: part }));

type Row = [from: string, to: string, source: string, target: string];

const CORRECT: Row[] = [
  // Texts with placeholders, and texts that look like JSON.
  ['en', 'ja', 'Welcome, {{name}}!', '{{name}}さん、ようこそ！'],
  ['en', 'de', 'Hello {{name}}, here is your order.', '{{name}}, hier ist Ihre Bestellung.'],
  ['en', 'de', '[{0}] experience', '[{0}] Erfahrung'],
  ['en', 'tr', 'Welcome back, {{name}}', '{{name}}, tekrar hoş geldin'],
  ['en', 'ko', 'Thank you, {{name}}.', '{{name}} 님, 감사합니다.'],
  ['en', 'es', 'Items of [[list]]', '[[list]]: artículos'],
  ['en', 'de', '{"title": "Hello"}', '{"title": "Hallo"}'],
  ['en', 'fr', '["Save", "Cancel"]', '["Enregistrer", "Annuler"]'],
  ['en', 'es', '[{"a": "Yes"}]', '[{"a": "Sí"}]'],
  ['en', 'de', '[“Save”] writes the file.', '["Speichern"] schreibt die Datei.'],
  ['en', 'ja', 'Set {{a}} and {{b}}', '{{a}}と{{b}}を設定'],
  ['en', 'hu', 'Photos of { {0} }', '{ {0} } fényképei'],
  // Apologies.
  ['nl', 'de', 'Het spijt me, dat kan ik niet', 'Es tut mir leid, das kann ich nicht'],
  ['ca', 'es', 'Ho sento, no puc', 'Lo siento, no puedo'],
  ['pt', 'es', 'Lamento, não posso', 'Lo siento, no puedo'],
  ['it', 'es', 'Mi spiace, non posso venire', 'Lo siento, no puedo ir'],
  ['fr', 'es', 'Je regrette, ce n’est pas possible pour moi', 'Lo siento, no puedo'],
  ['de', 'fr', 'Entschuldigung, das geht bei mir nicht', 'Désolé, je ne peux pas'],
  ['ja', 'es', '申し訳ありませんが、できません', 'Lo siento, no puedo'],
  ['pl', 'it', 'Przykro mi, nie mogę', 'Mi dispiace, non posso'],
  ['ru', 'de', 'К сожалению, я не могу прийти', 'Es tut mir leid, ich kann nicht kommen'],
  ['es', 'pt', 'Perdón, no puedo', 'Desculpe, não posso'],
  ['en', 'es', 'Sorry, I can’t.', 'Lo siento, no puedo.'],
  ['en', 'es', 'I regret that I am not able to do it.', 'Lo siento, pero no puedo hacerlo.'],
  ['en', 'de', 'I’m afraid I cannot come today.', 'Es tut mir leid, ich kann heute nicht kommen.'],
  ['en', 'fr', 'Pardon me, I can not stay.', 'Désolé, je ne peux pas rester.'],
  ['en', 'it', 'Unfortunately I cant.', 'Mi dispiace, non posso.'],
  ['es', 'en', 'Lo siento, no puedo ayudar.', 'I’m sorry, I can’t help.'],
  ['de', 'en', 'Ich kann das leider nicht übersetzen.', 'I’m sorry, I cannot translate that.'],
  // Texts with labels and quotations that stay in English.
  [
    'en',
    'de',
    'Click "What should they get with your plan?"',
    'Klicken Sie auf "What should they get with your plan?"',
  ],
  [
    'en',
    'de',
    'Click “What should they get with your plan?”',
    'Klicken Sie auf „What should they get with your plan?“',
  ],
  [
    'en',
    'fr',
    'Choose “What would you do with the file”.',
    'Choisissez « What would you do with the file ».',
  ],
  ['en', 'es', "Open 'What they should see from the web'", "Abra 'What they should see from the web'"],
  [
    'en',
    'sv',
    'The song “When You and the Night Were with Me”',
    'Låten »When you and the night were with me»',
  ],
  // Texts whose quotation marks differ between the languages.
  ['sv', 'en', '»Hej»', '“Hello”'],
  ['de', 'en', '‚Hallo‘', '“Hello”'],
  ['zh-hans', 'en', '《西游记》', '“Journey to the West”'],
  ['de', 'fr', '»Guten Tag«', '« Bonjour »'],
  ['fr', 'en', '‹ Bonjour ›', '“Hello”'],
  ['ja', 'en', '「こんにちは」', '“Hello”'],
  ['es', 'en', '—No lo sé.', '“I don’t know.”'],
  ['en', 'ja', '"Hello"', '「こんにちは」'],
  ['ko', 'en', '〈봄〉', '“Spring”'],
  // Product names that stay the same.
  ['en', 'de', 'Microsoft Windows Server', 'Microsoft Windows Server'],
  ['en', 'es', 'Google Cloud Storage for Firebase', 'Google Cloud Storage for Firebase'],
  ['en', 'ru', 'Adobe Photoshop Lightroom Classic', 'Adobe Photoshop Lightroom Classic'],
  ['en', 'nl', 'Sign in with Apple', 'Log in met Apple'],
];

describe.each([
  ['serviceFaultOf', serviceFaultOf],
  ['modelFaultOf', modelFaultOf],
])('%s', (_, faultOf) => {
  test.each(CORRECT)('accepts the correct translation from %s to %s: %s → %s', (from, to, source, target) => {
    expect(faultOf([{ text: target }], [{ text: source }], { from, to })).toBeNull();
    expect(faultOf(protectedOf(target), protectedOf(source), { from, to })).toBeNull();
  });

  test.each<[string, string]>([
    ['What should they get with your plan?', 'What should they get with your plan'],
    ['"What should they get with your plan?"', '"What should they get with your plan?"'],
    ['See the "plan".', 'They would see what the "plan" and your terms say, with this.'],
    ["The dogs' food", "When they see the dogs' food and the cats' food, you should go with them."],
  ])('rejects the English reply to “%s” in German: %s', (source, target) => {
    expect(faultOf([{ text: target }], [{ text: source }], { from: 'en', to: 'de' })).toBe(
      'the reply is in English',
    );
  });
});

describe('the check of URLs', () => {
  const direction = { from: 'en', to: 'es' };
  const url = 'https://example.com/help';

  test.each([...'|\\^`{}–—→…™€）】、。，✅', '\u200b', '👉🏽', '](', '*', ';'])(
    'accepts a translation that follows a protected URL and the mark %j',
    (mark) => {
      const around = (text: string): Piece[] => [
        { text: 'x ' },
        { keep: 1, text: url },
        { text: mark + text },
      ];
      expect(engineFaultOf(around('nuestra página'), around('our page'), direction)).toBeNull();
    },
  );

  test.each([
    ['Open FILE:/// or File:///.', 'Abre FILE:/// o File:///.'],
    ['See http://example.com/the/house.', 'Ve http://example.com/la/casa.'],
    ['See www.example.com|the house', 'Ve www.example.com|la casa'],
  ])('accepts a URL with the scheme and the host of the source: %s', (source, target) => {
    expect(engineFaultOf([{ text: target }], [{ text: source }], direction)).toBeNull();
  });

  test('accepts a URL of which the scheme or the host is a protected word', () => {
    const around = (text: string): Piece[] => [{ text: 'x https://' }, { keep: 1, text: 'h' }, { text }];
    expect(engineFaultOf(around('/casa'), around('/house'), direction)).toBeNull();
  });

  test.each([
    'https://evil.example',
    'WWW.evil.example',
    'x://example.com',
    'https://example.com.evil.example',
  ])('rejects an invented URL next to a protected one: %s', (invented) => {
    const source: Piece[] = [{ text: 'See ' }, { keep: 1, text: url }, { text: ' for the house.' }];
    const target: Piece[] = [{ text: 'Ve ' }, { keep: 1, text: url }, { text: ` para ${invented} casa.` }];
    expect(engineFaultOf(target, source, direction)).toBe('the reply has a URL that is not in the source');
  });
});

describe('modelFaultOf', () => {
  test.each<[source: string, target: string, fault: string]>([
    ['The house is red.', '{"translation": "La casa es roja."}', 'the reply is JSON'],
    ['The house of {{name}} is red.', '{"target": "La casa de {{name}} es roja."}', 'the reply is JSON'],
    ['The house [1] is red.', '["La casa [1] es roja."]', 'the reply is JSON'],
    ['The house is red.', '[{"target": "La casa es roja."}]', 'the reply is JSON'],
    ['The house is red.', '“La casa es roja.”', 'the reply is in quotation marks'],
    ['The house is red.', '«La casa es roja.»', 'the reply is in quotation marks'],
    ['Send the letter to my office.', 'Lo siento, pero no puedo ayudarle.', 'the reply is a refusal'],
    [
      'Send the letter to my office.',
      'I’m sorry, but I can’t assist.',
      'the reply comments on the task instead of translating',
    ],
  ])('rejects the reply to “%s” in Spanish: %s', (source, target, fault) => {
    for (const [given, made] of [
      [[{ text: source }], [{ text: target }]],
      [protectedOf(source), protectedOf(target)],
    ] as const) {
      expect(modelFaultOf(made, given, { from: 'en', to: 'es' })).toBe(fault);
    }
  });
});
