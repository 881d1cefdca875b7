/** Tests of letters, marks and codes in texts that the real Apertium translates. */

import { afterAll, describe, expect, test, vi } from 'vitest';
import { privateApertium } from '../../../scripts/test-tools.ts';
import { faultOf } from '../src/check.ts';
import type { Piece } from '../src/engines.ts';
import { createApertium } from '../src/engines.ts';
import { codesOf, nestingFault, translated } from './conformance.ts';
import { needApertium } from './need.ts';
import { ODD_TEXTS } from './odd-texts.ts';

// On a loaded machine, vitest's default timeout of 5 s is too short.
vi.setConfig({ testTimeout: 120_000 });

/** Reads `{word}` as a protected word, `<1>` and `</1>` as the halves of a pair, and `<x>` as a single code. */
function piecesOf(text: string): Piece[] {
  return text.split(/(\{[^{}]*\}|<\/?\d>|<x>)/).flatMap((part, index): Piece[] => {
    if (part === '') return [];
    if (index % 2 === 0) return [{ text: part }];
    if (part.startsWith('{')) return [{ keep: index, text: part }];
    if (part === '<x>') return [{ single: index }];
    return part.startsWith('</') ? [{ close: Number(part[2]) }] : [{ open: Number(part[1]) }];
  });
}

const written = (pieces: readonly Piece[]): string =>
  pieces
    .map((piece) => {
      if ('text' in piece) return piece.text;
      if ('single' in piece) return '<x>';
      return 'open' in piece ? `<${piece.open}>` : `</${piece.close}>`;
    })
    .join('');

const SPANISH: Record<string, [source: string, target: string][]> = {
  'codes that touch a word': [
    ['{%x}The red house is here.', '{%x}La casa roja es aquí.'],
    ['{%if}The red house{%else}the dog{%end}is here', '{%if}La casa roja{%else}el perro{%end}es aquí'],
    ['Open {name}the house', 'Abierto {name}la casa'],
    ['{name}s house', '{name}s casa'],
    ['{a}{b}The house', '{a}{b}La casa'],
    ['{a}<1>The house</1>', '{a}<1>La casa</1>'],
    ['<1>{a}</1>The house', '<1>{a}</1>La casa'],
    ['100{unit} house', '100{unit} casa'],
    ['<x>The house<x>the dog<x>', '<x>La casa<x>el perro<x>'],
  ],
  'notes and exponents': [
    ['The house<1>1</1> is big.', 'La casa<1>1</1> es grande.'],
    ['The word<1><2>1</2></1> is big.', 'La palabra<1><2>1</2></1> es grande.'],
    ['The house<1>1, 2</1>, the dog<2>*</2>', 'La casa<1>1, 2</1>, el perro<2>*</2>'],
    ['The m<1>2</1> and H<2>2</2>O is big', 'El m<1>2</1> y H<2>2</2>O es grande'],
    ['10<1>-3</1> houses', '10<1>-3</1> casas'],
    ['<3>The house<1>1</1></3> is big.', '<3>La casa<1>1</1></3> es grande.'],
    ['<1>5</1> houses', '<1>5</1> casas'],
    ['<1>W</1>elcome', '<1>Bienvenido</1>'],
  ],
  'spaces at marks': [
    ['Click "{%s}" to open the house.', 'Clic "{%s}" para abrir la casa.'],
    ['The "<1>house</1>" is big.', 'La "<1>casa</1>" es grande.'],
    ['"{name}" is a word.', '"{name}" es una palabra.'],
    ['See "{url}" and "{%s}" for the house.', 'Ve "{url}" y "{%s}" para la casa.'],
    ['The house(s) are big.', 'La casa(s) es grande.'],
    ['The __house__ is big , but red.', 'La __casa__ es grande , pero rojo.'],
    ['He said: "I am here", and left.', 'Dijo: "soy aquí", y dejó.'],
  ],
  'straight quotation marks': [
    ["the 'Software') to 'red houses'", "el 'Software') a 'casas rojas'"],
    ["type: 'string', // The name of the dog's house", "tipo: 'serie', // El nombre de la casa del perro"],
    ["'I am here', he said. 'We're going.'", "'Soy aquí', dijo. 'Estamos yendo.'"],
    ["It is called '<1>the house</1>'.", "Se apellida '<1>la casa</1>'."],
    ["The 'red {name}' is here", "El 'rojo {name}' es aquí"],
    ['The dog’s ‘big’ house', 'La casa ‘grande’ del perro'],
  ],
  'words in quotation marks': [
    ['the "red house" dog', 'el perro de "casa rojo"'],
    ['Click the "Save" button', 'Clic el "Salvar" botón'],
    ['title “Second”, the *dog* house', '“Segundo” de título, la casa de *perro*'],
    ['the **red house** dog and __big red__ dogs', 'el perro de **casa rojo** y perros __rojos grandes__'],
    ['the "red <1>house</1>" dog', 'el perro de "<1>casa</1> rojo"'],
    ['<1>the "red house</1> big" dog', '<1>la "casa roja</1> perro" grande'],
    ['the "Yes, delete" button', 'el "Sí, elimina" botón'],
    ['support for <1>"^;" initial dogs</1> in it', 'apoyo para <1>"^;" perros iniciales</1> en él'],
    ['the string "Section:". They are here', 'la serie "Sección:". Son aquí'],
    ['He said "I am here. You are there." and left', 'Dijo "soy aquí. Eres allí." y dejó'],
    ['the <1>«\u00a0<2>red house</2>\u00a0»</1> dog', 'el perro de <1>«\u00a0<2>casa rojo</2>\u00a0»</1>'],
    ['For the house, "You" includes the dog', 'Para la casa, "You" incluye el perro'],
    ['Is the "red house" big?', '¿Es la "casa roja" grande?'],
    ['"Show/Hide the house" button', '"Espectáculo/Esconder el botón de casa"'],
    ['5" and 6" houses, 2 * 3 * 4, the dogs\' house', '5" y 6" casas, 2 * 3 * 4, los perros\' casa'],
  ],
  'words joined by a mark': [
    ['Responses/Requests', 'Respuestas/Peticiones'],
    ['Red & Blue houses', 'Rojo & casas Azules'],
    ['house/ dog /cat', 'casa/ perro /gato'],
    ['House 1/House 2, 5/month', 'Casa 1/Casa 2, 5/mes'],
    ['red/<1>blue</1> house', 'rojo/casa <1>azul</1>'],
    ['<1>red</1>/<2>blue</2>/{x}/house', '<1>rojo</1>/<2>azul</2>/{x}/casa'],
    ['Q&A, R&D, n/a, a/b/c, km/h', 'Q&A, I+D, n/a, a/b/c, km/h'],
  ],
  'clauses that begin with a capital': [
    ['{x} (optional) - Maximum number of houses', '{x} (opcional) - Número máximo de casas'],
    ['the house: <1>Only returns dogs</1>', 'la casa: <1>Perros de regresos únicos</1>'],
    ['**Trusted:** Application code', '**Confiado en:** Código de aplicación'],
    ['red // Type error', 'rojo // Error de tipo'],
    ['the big <1>Google office</1> is here', 'la <1>oficina de Google</1> grande es aquí'],
    ['I read the <1>English version</1> of the book.', 'Leí la <1>versión inglesa</1> del libro.'],
    ['I saw the "Titanic film" yesterday', 'Vi la "película Titánica" ayer'],
    ['The <1>EU</1> Parliament voted.', 'El Parlamento de <1>UE</1> votó.'],
    ['The supply-driven house', 'El suministro-casa conducida'],
    ['see the section called “Search patterns”, or not', 'ver la sección llamó “Patrones de búsqueda”, o no'],
    ['see <1>Code components</1> for the house', 've <1>Componentes de código</1> para la casa'],
    ['<1>NOTE</1> Editing dog files', '<1>Nota</1> Editando limas de perro'],
    ['(ALPHA) List product sets in a house.', '(Alfa) Conjuntos de producto de la lista en una casa.'],
    ['Paris - London - {x}', 'París - Londres - {x}'],
  ],
  'names of parts': [
    ['The D-Bus house and X-Ray', 'El D-Bus casa y X-Ray'],
    ['Debian GNU/Linux systems', 'Debian GNU/Linux sistemas'],
    ['It is FOR A PARTICULAR PURPOSE. See the', 'Es PARA UN PROPÓSITO PARTICULAR. Ver el'],
    ['the ranges X-Y, E.U.A.-17, label-A and <file>', 'las gamas X-Y, E.U.A.-17, sello-A y <file>'],
    ['<1>“<2>Is the house red?</2>”</1> he asked', '<1>“<2>¿Es el rojo de casa?</2>”</1> pidió'],
    ['Added the <1>Geopoly module</1> here', 'Añadido el <1>Geopoly módulo</1> aquí'],
    ['the rarely-used "red" house', 'la casa "roja" raramente utilizada'],
    ['USB to PCI and CD or DVD', 'USB a PCI y CD o DVD'],
    ['the option -a or -u, see (Annex G) and Region II', 'la opción -a o -u, ve (Anexo G) y Región II'],
    ['So do I; you too', 'Así que yo; tú también'],
    ['-A house is here.', '-Una casa es aquí.'],
    ['He said: -A house is here.', 'Dijo: -Una casa es aquí.'],
    ['-a, --all red houses, or use -A to add', '-a, --todo casas rojas, o uso -A para añadir'],
    ["_Complex of O'Higgins in HL7v2 and C++ APIs", "_Complex de O'Higgins en HL7v2 y C++ APIs"],
    ['The _red_ house', 'La casa _roja_'],
    ['IBM Ltd HP', 'IBM Ltd HP'],
  ],
  'composed letters': [['The cafe\u0301 of Jose\u0301', 'La cafetería de José']],
  capitals: [
    ['Shopify is a big house.', 'Shopify es una casa grande.'],
    ['Shopify is an English house.', 'Shopify es una casa inglesa.'],
    ['{name} is a house in Spain.', '{name} es una casa en España.'],
    ['readme.txt is big', 'readme.txt es grande'],
    ['J. R. R. Tolkien wrote this book.', 'J. R. R. Tolkien escribió este libro.'],
    ['eBay also sells it. YouTube is big.', 'eBay también lo vende. YouTube es grande.'],
    ['iPhone is a phone for JavaScript.', 'iPhone es un teléfono para JavaScript.'],
    ['Username of the Active Directory domain', 'Username del ámbito de Directorio Activo'],
    ['The house has no door.', 'La casa no tiene ninguna puerta.'],
    ['sunny Spain', 'España soleada'],
    ['Shopify and Red Hat', 'Shopify y Sombrero Rojo'],
    ['Okay this section is big', 'Vale esta sección es grande'],
    ['Dates and Timers working together', 'Las citas y los Temporizadores que obran juntos'],
    ['the house in Pakistan and the Bahamas', 'la casa en Pakistán y las Bahamas'],
    ['The Hashemite Kingdom of Jordan', 'El Hashemite Reino de Jordania'],
    ['THE HOUSE IS BIG.', 'LA CASA ES GRANDE.'],
    ['HELLO WORLD', 'HOLA MUNDO'],
    ['FREE SHIPPING FOR {name} AND <1>THE HOUSE</1>', 'NAVÍO LIBRE PARA {name} Y <1>LA CASA</1>'],
    ['USB', 'USB'],
  ],
  marks: [
    ['The “house” is ‘big’ and it’s red.', 'La “casa” es ‘grande’ y es rojo.'],
    ["Levi's ‘red’ house, it’s", 'La casa ‘roja’ de Levi, es'],
    ['Where is the house?', '¿Dónde es la casa?'],
    ['The <1>dog</1> is here!', '¡El <1>perro</1> es aquí!'],
    ['{name}, is it red?', '¿{name}, es rojo?'],
    ['Note: is it big?', 'Nota: ¿es grande?'],
    ['He asked: "Where is the house?"', 'Pidió: "¿Dónde es la casa?"'],
    ['(Is it red?)', '(¿Es rojo?)'],
    ['Jones et al. saw a house.', 'Jones et al. vio una casa.'],
    ['Mr. Smith and Dr. Jones are here.', 'Señor Herrero y Dr. Jones son aquí.'],
    ['i am here and i have a dog, i.e. (i) a house', 'soy aquí y tengo un perro, i.e. (i) una casa'],
    ["I'm sorry, we are sorry, and they were sorry.", 'Lo siento, lo sentimos, y lo sintieron.'],
    ['NOTE: The house is red.', 'NOTA: La casa es roja.'],
    ['NOTE: It is WITHOUT A WARRANTY.', 'NOTA: Es SIN UNA GARANTÍA.'],
    ['The [FOR A PARTICULAR PURPOSE] text is big.', 'El [PARA UN PROPÓSITO PARTICULAR] el texto es grande.'],
    ['Mr. Smith and Dr. Green are here.', 'Señor Herrero y Dr. Verde son aquí.'],
    ['Did he say "Are you here?" yesterday?', '¿Dice "¿Eres aquí?" ayer?'],
    ['The company (Yahoo!) is big.', 'La empresa (Yahoo!) es grande.'],
    ['The index i must be positive.', 'El índice i tiene que ser positivo.'],
    ['Hi [NAME], see [CODE].', 'Hola [NOMBRE], ve [CÓDIGO].'],
    ['🎉 Is it red?', '🎉 ¿Es rojo?'],
    ['"Is it red?" she asked.', '"¿Es rojo?" pidió.'],
    ['A house (is it red?), and a dog.', 'Una casa (¿es rojo?), y un perro.'],
    ['The house?! A dog.', '¡¿La casa?! Un perro.'],
    ['The house is red. Is it big?', 'La casa es roja. Es grande?'],
    ['Yahoo! is big.', 'Yahoo! es grande.'],
  ],
  'single letters and clock times': [
    ['N/A', 'N/A'],
    ['A', 'A'],
    ['Plan A is big', 'Plan A es grande'],
    ['Q&A', 'Q&A'],
    ['a) The house', 'a) La casa'],
    ['b. The house', 'b. La casa'],
    ['A) The house', 'A) La casa'],
    ['A house', 'Una casa'],
    ['It is red. A house is big.', 'Es rojo. Una casa es grande.'],
    ['10am-5pm', '10am-5pm'],
    ['Open 10:30 am', 'Abierto 10:30 am'],
    ['I am red', 'Soy rojo'],
  ],
  abbreviations: [
    ['Our R&D team', 'Nuestro equipo de I+D'],
    ['chrome://settings/ is a house', 'chrome://settings/ es una casa'],
    ['File:/// and HTTP:// are big', 'File:/// y HTTP:// es grande'],
  ],
};

/** Rows for other directions, with the modes that they need. */
const OTHERS: [modes: string[], from: string, to: string, source: string, target: string][] = [
  [['spa-eng'], 'es', 'en', 'El niño está aquí.'.normalize('NFD'), 'The boy is here.'],
  [['spa-eng'], 'es', 'en', 'Shopify funciona el lunes en español', 'Shopify works the Monday in Spanish'],
  [['spa-eng'], 'es', 'en', 'Plan A y N/A', 'Plan A and N/A'],
  [['spa-eng'], 'es', 'en', 'perros marroquíes, el vino chileno', 'Moroccan dogs, the Chilean wine'],
  [['spa-eng'], 'es', 'en', 'Si se están aquí', 'If they are here'],
  [['spa-eng'], 'es', 'en', '-A veces voy.', '-Sometimes I go.'],
  [['spa-eng'], 'es', 'en', '-Y tú?', '-And you?'],
  [['spa-eng'], 'es', 'en', 'La casa -a veces- es grande', 'The house -sometimes- is big'],
  [['spa-eng'], 'es', 'en', 'Léelo Lunes', 'Read it Monday'],
  [['spa-eng'], 'es', 'en', 'Lo vi Viernes', 'I saw it Friday'],
  [['spa-eng'], 'es', 'en', 'él Marroquí', 'He Moroccan'],
  [['pt-es'], 'pt', 'es', '-É verdade.', '-Es verdad.'],
  [['spa-cat', 'cat-fra'], 'es', 'fr', 'El capítulo I, es', 'Le chapitre I, est'],
  [['spa-cat', 'cat-fra'], 'es', 'fr', 'El XX Congreso es', 'Le XXe Congrès est'],
  [['spa-cat', 'cat-fra'], 'es', 'fr', 'el III Reich es', 'le IIIe Reich est'],
  [['spa-cat', 'cat-fra'], 'es', 'fr', 'El siglo XV y el XVI son', 'Le XVe siècle et le XVIe sont'],
  [['spa-cat', 'cat-fra'], 'es', 'fr', 'Las funciones C y el eje X son', "Les fonctions C et l'axe X sont"],
  [['pt-es', 'spa-eng'], 'pt', 'en', 'Copia rápida; Assume a casa', 'Fast copy; It assumes the house'],
  [
    ['fra-cat', 'cat-spa'],
    'fr',
    'es',
    "avec l'option -s. Il est le langage C.",
    'con la opción -s. Es el lenguaje C.',
  ],
  [
    ['spa-cat', 'cat-fra'],
    'es',
    'fr',
    'la función C del siglo X (Región X)',
    'la fonction C du Xe siècle (Région X)',
  ],
  [
    ['eng-cat', 'cat-fra'],
    'en',
    'fr',
    'The files (the "Software"), here',
    'Les fichiers (le "Logiciel"), ici',
  ],
  [['eng-cat', 'cat-fra'], 'en', 'fr', 'Newfoundland and Labrador', 'Terre-Neuve et Labrador'],
  [['en-gl', 'gl-pt'], 'en', 'pt', 'The COMMAND from TEXTDOMAIN', 'A ORDEM desde TEXTDOMAIN'],
  [['spa-eng'], 'es', 'en', '{x}La casa<1>1</1>', '{x}The house<1>1</1>'],
  [['fra-cat', 'cat-spa'], 'fr', 'es', 'L’eau est ‘rouge’', 'El agua es ‘roja’'],
  [['fra-cat', 'cat-spa'], 'fr', 'es', 'Où est la maison ?', '¿Dónde es la casa?'],
  [['fra-cat', 'cat-spa'], 'fr', 'es', 'LA MAISON EST ROUGE', 'LA CASA ES ROJA'],
  [['pt-es'], 'pt', 'es', 'O campo "{x}" é novo', 'El campo "{x}" es nuevo'],
  [['en-gl', 'gl-pt'], 'en', 'pt', 'THE HOUSE OF {x} IS BIG', 'A CASA DE {x} É GRANDE'],
  [['en-gl', 'gl-pt'], 'en', 'pt', 'Click "{x}" to open', 'Clique "{x}" para abrir'],
  [['spa-cat'], 'es', 'ca', 'Abre el "perro" de la “casa”', 'Obre el "gos" de la “casa”'],
  [['fr-es'], 'fr', 'es', 'La maison pour « : »', 'La casa a favor « : »'],
  [['fr-es'], 'fr', 'es', "Ouvre l'«eau»", 'Abre el «agua»'],
  [['spa-eng'], 'es', 'en', 'La "casa" es "grande"', 'The "house" is "big"'],
  [['ita-spa'], 'it', 'es', 'Il 10% degli utenti, 5 € e 3%.', 'El 10% de los usuarios, 5 € y 3%.'],
  [['spa-eng'], 'es', 'en', 'El 10% de los usuarios', '10% of the users'],
  [['eng-cat', 'cat-fra'], 'en', 'fr', 'He said "¿Hola?" here', 'Il a dit "¿Salut?" ici'],
  [['fra-cat', 'cat-spa'], 'fr', 'es', 'la BBC et al-Jazira', 'la BBC y al-Jazira'],
  [['spa-ita'], 'es', 'it', '¿La casa es grande? ¡Sí!', 'La casa è grande? Sì!'],
  [['eng-cat', 'cat-fra'], 'en', 'fr', 'The dog, i.e. the house', 'Le chien, i.e. la maison'],
  [['spa-ita'], 'es', 'it', 'Come un poco de pan', "Mangia un po' di pane"],
  [['es-gl'], 'es', 'gl', 'LA CASA ES GRANDE', 'A CASA É GRANDE'],
  [['eng-cat', 'cat-fra'], 'en', 'fr', 'The “house” isn’t ‘big’', 'La “maison” n’est pas ‘grande’'],
  [['eng-cat', 'cat-fra'], 'en', 'fr', 'See "{x}" e.g. here', 'Vois "{x}" p. ex. ici'],
];

if (needApertium(['eng-spa'])) {
  const engine = createApertium(privateApertium());
  afterAll(() => engine.stop());
  const draft = async (from: string, to: string, sources: readonly Piece[][]) => {
    const segments = sources.map((pieces, id) => ({ id: String(id), pieces }));
    return engine.draft({ from, to, segments, lane: 'bulk' });
  };

  describe.each(Object.entries(SPANISH))('Apertium, with %s', (_, rows) => {
    test.each(rows)('translates “%s” into “%s”', async (source, target) => {
      const pieces = piecesOf(source);
      const made = translated((await draft('en', 'es', [pieces]))[0]);
      expect(written(made)).toBe(target);
      expect(codesOf(made)).toEqual(codesOf(pieces));
      expect(nestingFault(made)).toBeNull();
    });
  });

  test.each(OTHERS.filter(([modes]) => needApertium(modes)))(
    'Apertium with %j translates from %s to %s: “%s” → “%s”',
    async (_, from, to, source, target) => {
      const [made] = await draft(from, to, [piecesOf(source)]);
      expect(written(translated(made))).toBe(target);
    },
  );

  const directions = [
    [['eng-spa'], 'en', 'es'],
    [['spa-eng'], 'es', 'en'],
    [['fra-cat', 'cat-spa'], 'fr', 'es'],
    [['pt-es'], 'pt', 'es'],
  ] as const;
  test.each(directions.filter(([modes]) => needApertium(modes)))(
    'translates odd short texts without a fault with %j from %s to %s',
    async (_, from, to) => {
      const sources = ODD_TEXTS.map((text): Piece[] => [{ text }]);
      const drafts = await draft(from, to, sources);
      const faults = drafts.flatMap((each, index) => {
        const fault =
          each.status === 'translated' ? faultOf(each.pieces, sources[index]!, { from, to }) : each;
        return fault === null ? [] : [[ODD_TEXTS[index], fault]];
      });
      expect(faults).toEqual([]);
    },
  );
}
