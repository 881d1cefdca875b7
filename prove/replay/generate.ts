/**
 * Generates edits of invented support conversations, English to Spanish. Sources repeat and editors disagree at given
 * rates.
 */
import { OperatorError } from '../../packages/server/src/base/errors.ts';
import type { Random } from '../harness/random.ts';
import type { RecordedEdit } from './edits.ts';

export interface GeneratorOptions {
  rows: number;
  clients: number;
  editors: number;
  /** The percentage of rows whose source is that of an earlier row with the same client and tone. */
  repetition: number;
  /** The percentage of repeats that are edited differently from the row before them with the same source. */
  disagreement: number;
}

const TONES = ['Informal', 'Formal'];
/** The minimum and the maximum number of rows of a conversation. */
const LENGTHS = [3, 8] as const;

/** A source, the translation that most editors choose, and two other translations. */
const SENTENCES = [
  [
    'We have sent {thing} today.',
    'Hoy hemos enviado {thing}.',
    'Hemos enviado {thing} hoy.',
    'Hoy le enviamos {thing}.',
  ],
  [
    'You can return {thing} within thirty days.',
    'Puede devolver {thing} en un plazo de treinta días.',
    'Puede devolver {thing} en treinta días.',
    'Tiene treinta días para devolver {thing}.',
  ],
  [
    'I am sorry that {thing} has not arrived yet.',
    'Siento que {thing} todavía no haya llegado.',
    'Lamento que {thing} aún no haya llegado.',
    'Perdone que {thing} no haya llegado todavía.',
  ],
  [
    'Could you send me a photo of {thing}?',
    '¿Podría enviarme una foto de {thing}?',
    '¿Me puede enviar una foto de {thing}?',
    '¿Podría mandarme una imagen de {thing}?',
  ],
  [
    'The price of {thing} has changed.',
    'El precio de {thing} ha cambiado.',
    'Ha cambiado el precio de {thing}.',
    'El precio de {thing} cambió.',
  ],
  [
    'Thank you for your question about {thing}.',
    'Gracias por su pregunta sobre {thing}.',
    'Le agradezco su pregunta sobre {thing}.',
    'Muchas gracias por preguntar por {thing}.',
  ],
  [
    'Order {number} with {thing} is ready.',
    'El pedido {number} con {thing} está listo.',
    'Ya está listo el pedido {number} con {thing}.',
    'Su pedido {number} con {thing} está preparado.',
  ],
  [
    'Please clean {thing} with warm water only.',
    'Limpie {thing} solo con agua templada.',
    'Por favor, limpie {thing} únicamente con agua tibia.',
    'Le rogamos que limpie {thing} solo con agua templada.',
  ],
  [
    'The warranty covers {thing} for two years.',
    'La garantía cubre {thing} durante dos años.',
    'La garantía de {thing} es de dos años.',
    'Durante dos años, la garantía cubre {thing}.',
  ],
  [
    'I have checked {thing} for you.',
    'He revisado {thing} para usted.',
    'Ya he comprobado {thing}.',
    'Acabo de revisar {thing}.',
  ],
] as const;
const THINGS = [
  ['the backpack', 'la mochila'],
  ['the tent', 'la tienda'],
  ['the jacket', 'la chaqueta'],
  ['the bicycle', 'la bicicleta'],
  ['the lamp', 'la lámpara'],
  ['the chair', 'la silla'],
  ['the table', 'la mesa'],
  ['the camera', 'la cámara'],
  ['the bottle', 'la botella'],
  ['the box', 'la caja'],
  ['the key', 'la llave'],
  ['the shirt', 'la camisa'],
  ['the bag', 'la bolsa'],
  ['the cup', 'la taza'],
  ['the blanket', 'la manta'],
  ['the radio', 'la radio'],
  ['the printer', 'la impresora'],
  ['the battery', 'la batería'],
] as const;
const KINDS = [
  ['from the summer sale', 'de las rebajas de verano'],
  ['from our new catalog', 'de nuestro nuevo catálogo'],
  ['from the shop in Madrid', 'de la tienda de Madrid'],
  ['with the green handle', 'con el asa verde'],
  ['with the red cover', 'con la funda roja'],
  ['with the small pocket', 'con el bolsillo pequeño'],
  ['for children', 'para niños'],
  ['for long journeys', 'para viajes largos'],
  ['for the kitchen', 'para la cocina'],
  ['from page ten', 'de la página diez'],
  ['in the large size', 'en la talla grande'],
  ['without a label', 'sin etiqueta'],
] as const;
const OPENINGS = [
  ['', ''],
  ['Good news: ', 'Buenas noticias: '],
  ['As you asked: ', 'Como ha pedido: '],
  ['In short: ', 'En resumen: '],
  ['From our team: ', 'De nuestro equipo: '],
] as const;
/** The number of different sources. Sources that differ only in a numeral count as one. */
const DIFFERENT = SENTENCES.length * THINGS.length * KINDS.length * OPENINGS.length;
/**
 * The step from one new source to the next. It has no common divisor with `DIFFERENT`, so every source is used before
 * one repeats.
 */
const STRIDE = 7_919;

/** @throws OperatorError when the options are out of range or there are not enough different sources */
export function generateEdits(random: Random, options: GeneratorOptions): RecordedEdit[] {
  const { rows, clients, editors, repetition, disagreement } = options;
  for (const [name, value, least, most] of [
    ['rows', rows, 1, 1_000_000],
    ['clients', clients, 1, 1_000],
    ['editors', editors, 2, 10_000],
    ['repetition', repetition, 0, 99],
    ['disagreement', disagreement, 0, 66],
  ] as const) {
    if (value >= least && value <= most) continue;
    throw new OperatorError(`--${name} must be a number from ${least} to ${most}.`);
  }
  const chance = otherShare(disagreement / 100);
  const edits: RecordedEdit[] = [];
  /** The sources used so far by each client and tone, one for each row. */
  const used = new Map<string, Source[]>();
  let made = 0;
  while (edits.length < rows) {
    const client = `client-${random.below(clients) + 1}`;
    const tone = TONES[random.below(TONES.length)]!;
    const editor = `editor-${random.below(editors) + 1}`;
    const key = `${client} ${tone}`;
    const earlier = used.get(key) ?? [];
    used.set(key, earlier);
    const length = LENGTHS[0] + random.below(LENGTHS[1] - LENGTHS[0] + 1);
    for (let row = 0; row < length && edits.length < rows; row++) {
      const repeats = earlier.length > 0 && random.below(100) < repetition;
      if (!repeats && made === DIFFERENT) {
        throw new OperatorError(`There are only ${DIFFERENT} different sources. Ask for fewer rows.`);
      }
      const source = repeats
        ? earlier[random.below(earlier.length)]!
        : { number: (made++ * STRIDE) % DIFFERENT, order: 10_000 + random.below(90_000) };
      earlier.push(source);
      const choice = random.below(1_000_000) < chance * 1_000_000 ? 2 + random.below(2) : 1;
      edits.push({ source: write(source, 0), edit: write(source, choice), editor, client, tone });
    }
  }
  return edits;
}

/**
 * Returns the share of edits that must use one of the two less common translations, so that two edits of the same
 * source differ with the probability `rate`. Both translations are equally likely, which gives the equation `rate = 1 −
 * (1 − share)² − share² / 2`.
 */
function otherShare(rate: number): number {
  return (1 - Math.sqrt(1 - 1.5 * rate)) / 1.5;
}

interface Source {
  number: number;
  order: number;
}

/** Returns a source as text. @param choice 0: in English; 1 to 3: one of its translations */
function write({ number, order }: Source, choice: number): string {
  const language = choice === 0 ? 0 : 1;
  const sentence = SENTENCES[number % SENTENCES.length]![choice]!;
  let rest = Math.floor(number / SENTENCES.length);
  const take = (from: readonly (readonly [string, string])[]) => {
    const taken = from[rest % from.length]![language];
    rest = Math.floor(rest / from.length);
    return taken;
  };
  const thing = `${take(THINGS)} ${take(KINDS)}`;
  return take(OPENINGS) + sentence.replace('{thing}', thing).replace('{number}', String(order));
}
