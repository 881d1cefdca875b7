/** Tests reading termbases of other programs, and the limits against malicious files. */
import { describe, expect, it } from 'vitest';
import { readTbx, writeTbx } from './tbx.ts';

const plain = { caseSensitive: false, forbidden: false, doNotTranslate: false };
const complaint = async (read: () => unknown): Promise<string> => {
  try {
    await read();
  } catch (error) {
    return (error as Error).message;
  }
  return 'no complaint';
};

const MARTIF = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE martif SYSTEM "TBXcoreStructV02.dtd">
<martif type="TBX" xml:lang="en-US">
  <martifHeader><fileDesc><sourceDesc><p>A termbase</p></sourceDesc></fileDesc></martifHeader>
  <text><body>
    <termEntry id="1">
      <descrip type="subjectField">shops</descrip>
      <transacGrp><transac type="transactionType">origination</transac><note>by Ann</note></transacGrp>
      <note>of the web shop</note>
      <langSet xml:lang="en-US">
        <tig><term>shopping cart</term></tig>
        <tig><term>basket</term></tig>
      </langSet>
      <langSet xml:lang="es-ES">
        <ntig><termGrp><term>carrito</term><termNote type="administrativeStatus">preferredTerm-admn-sts</termNote></termGrp></ntig>
        <ntig><termGrp><term>carro <hi>de</hi> la&#x20;compra</term><termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote><note>old</note></termGrp></ntig>
      </langSet>
      <langSet xml:lang="fr"><tig><term>panier</term></tig></langSet>
    </termEntry>
    <termEntry id="2"><langSet xml:lang="en-US"><tig><term>only English</term></tig></langSet></termEntry>
  </body></text>
</martif>`;

const DCT = `<tbx type="TBX-Min" style="dct" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2"
  xmlns:min="http://www.tbxinfo.net/ns/min"><tbxHeader/><text><body>
  <conceptEntry id="c1">
    <langSec xml:lang="en"><termSec><term>cat &amp; dog</term></termSec></langSec>
    <langSec xml:lang="de"><termSec><term><![CDATA[Hund & Katz]]></term>
      <min:administrativeStatus>supersededTerm-admn-sts</min:administrativeStatus></termSec></langSec>
  </conceptEntry></body></text></tbx>`;

describe('a termbase (TBX)', () => {
  it('of version 2 is read as pairs of every source term with every target term of its concepts', async () => {
    const one = (source: string) => [
      { ...plain, source, target: 'carrito', note: 'of the web shop' },
      { ...plain, source, target: 'carro de la compra', forbidden: true, note: 'old' },
    ];
    expect(await readTbx('f', MARTIF, 'es', undefined)).toEqual({
      terms: [...one('shopping cart'), ...one('basket')],
      from: 'en-us',
      skipped: 1,
    });
  });

  it('can be read for any two of its languages and for related languages', async () => {
    const french = { ...plain, source: 'panier', note: 'of the web shop' };
    expect((await readTbx('f', MARTIF, 'en', 'fr')).terms).toEqual([
      { ...french, target: 'shopping cart' },
      { ...french, target: 'basket' },
    ]);
    expect((await readTbx('f', MARTIF, 'es-es', 'en')).terms).toHaveLength(4);
  });

  it('of version 3 can have data categories as elements', async () => {
    expect(await readTbx('f', DCT, 'de', undefined)).toEqual({
      terms: [{ ...plain, source: 'cat & dog', target: 'Hund & Katz', forbidden: true }],
      from: 'en',
      skipped: 0,
    });
  });

  it('uses the terms of the requested language itself and, without them, those of related languages', async () => {
    const two = writeTbx([{ ...plain, source: 'train', target: 'comboio' }], 'en', 'pt').replace(
      '</conceptEntry>',
      '<langSec xml:lang="pt-BR"><termSec><term>trem</term></termSec></langSec></conceptEntry>',
    );
    const targets = async (into: string) =>
      (await readTbx('f', two, into, 'en')).terms.map(({ target }) => target);
    expect(await targets('pt')).toEqual(['comboio']);
    expect(await targets('pt-br')).toEqual(['trem']);
    expect(await targets('pt-ao')).toEqual(['comboio']);
    expect((await readTbx('f', two, 'pt-br', 'pt')).terms).toEqual([
      { ...plain, source: 'comboio', target: 'trem' },
    ]);
  });

  it.each([
    ['another XML format', '<html/>', 'f: line 1: is not TBX: its root is "html"'],
    ['invalid XML', '<tbx>\n<text>\n</tbx>', /^f: line 3: is not well-formed XML: /],
    ['an incomplete file', '<tbx>\n<text>', /^f: line 2: is not well-formed XML: unclosed tag/],
    [
      'entity declarations',
      '<!DOCTYPE martif [\n<!ENTITY a "aaaa">\n]>\n<martif/>',
      /^f: line \d: the document type must not declare entities\.$/,
    ],
    [
      'an undefined entity',
      '<tbx>\n<text>&lol;</text></tbx>',
      /line 2: is not well-formed XML: undefined ent/,
    ],
    [
      'a text that is longer than any note',
      `<tbx><text>\n<conceptEntry><note>${'a'.repeat(100_001)}</note></conceptEntry></text></tbx>`,
      'f: line 2: a text has more than 100000 characters.',
    ],
    [
      'elements that are nested too deeply',
      `<tbx>\n${'<a>'.repeat(60)}`,
      'f: line 2: elements are nested more than 50 deep.',
    ],
    [
      'a language section without a language',
      '<tbx><text>\n<conceptEntry><langSec/></conceptEntry></text></tbx>',
      'f: line 2: langSec has no language in xml:lang.',
    ],
    ['no terms of the language', DCT, 'f: has no terms from en into es; it has de, en.', 'es', 'en'],
    [
      'several possible source languages',
      MARTIF.replace(' xml:lang="en-US">\n  <m', '>\n  <m'),
      /has en-us, fr apart from es; name/,
    ],
    ['an invalid term', DCT.replace('cat &amp; dog', ' '), 'f: line 5: source: must not be empty.', 'de'],
  ])('is refused with %s', async (_, text, message, into = 'es', from?: string) => {
    const said = await complaint(() => readTbx('f', text, into, from));
    if (typeof message === 'string') expect(said).toContain(message);
    else expect(said).toMatch(message);
  });

  it('is refused when its synonyms form more than the maximum number of pairs', async () => {
    const section = (language: string, prefix: string) =>
      `<langSec xml:lang="${language}">${Array.from({ length: 400 }, (_, i) => `<termSec><term>${prefix}${i}</term></termSec>`).join('')}</langSec>`;
    const text = `<tbx xml:lang="en"><conceptEntry>${section('en', 's')}${section('es', 't')}</conceptEntry></tbx>`;
    expect(await complaint(() => readTbx('f', text, 'es', undefined))).toMatch(/more than 100000 pairs/);
  });
});
