/**
 * Reads the inputs of a request with the schema that also describes them. One schema thus serves as check,
 * type and documentation. An error names all invalid fields.
 */
import type { Static, TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Set as setFormat } from 'typebox/format';
import { Settings } from 'typebox/system';
import { Check } from 'typebox/value';
import { type ApiError, type Reason, reason, wrongFields } from '../base/errors.ts';
import { isId } from '../base/ids.ts';
import { findUnusable } from '../base/text.ts';

// The maximum number of faults that are collected. It is above `MAX_LINES`, so that the number of omitted
// errors is exact.
Settings.Set({ maxErrors: 10_000 });

export interface InputOptions {
  /** Whether an empty string counts as absent in an optional field. Some clients send empty strings. */
  emptyIsAbsent?: boolean;
  /** Whether integers and booleans are parsed from strings. Path and query parameters require this. */
  fromText?: boolean;
}

/**
 * The parts of a schema that this file uses. Properties that start with `x-` are our own and are not
 * published.
 */
interface Node extends TSchema {
  type?: string;
  /** Whether surrounding white space is removed before the check. */
  'x-trim'?: boolean;
  /** The error message for every fault of this value and of the values inside it. */
  'x-fault'?: Reason;
  default?: unknown;
  format?: string;
  patternProperties?: Record<string, Node>;
  properties?: Record<string, Node>;
  required?: string[];
  additionalProperties?: Node | boolean;
  items?: Node;
  anyOf?: Node[];
  enum?: unknown[];
  const?: unknown;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}

type Path = (string | number)[];
type Faults = { path: Path; why: Reason }[];

/** The error messages for strings that do not match a pattern, by pattern. */
const patterns = new Map<string, Reason>([['\\S', reason('not_empty')]]);

/** Registers the error message for strings that do not match a pattern. @returns the pattern */
export function explainPattern(pattern: string, why: Reason): string {
  patterns.set(pattern, why);
  return pattern;
}

const formats = new Map<string, (value: string) => Reason | undefined>();

/**
 * Registers a format of strings. @param fault a function that returns the error message for an invalid
 * string, or undefined for a valid string
 */
export function defineFormat(name: string, fault: (value: string) => Reason | undefined): string {
  formats.set(name, fault);
  setFormat(name, (value) => fault(value) === undefined);
  return name;
}

// Accepts any string, because the address guard checks callback URLs later.
defineFormat('uri', () => undefined);
defineFormat('uuid', (value) => (isId(value) ? undefined : reason('id')));
const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;
// Formats the parsed date and compares it with the input, because `Date.parse` reads February 31 as March 3.
const isDay = (day: string): boolean =>
  !Number.isNaN(Date.parse(day)) && new Date(day).toISOString().startsWith(day);
defineFormat('moment', (value) =>
  MOMENT.test(value) && isDay(value.slice(0, 10)) && !Number.isNaN(Date.parse(value))
    ? undefined
    : reason('date'),
);
defineFormat('future', (value) => {
  const wrong = formats.get('moment')!(value);
  return wrong ?? (Date.parse(value) > Date.now() ? undefined : reason('in_the_future'));
});

/**
 * Creates a function that checks and converts values by a schema. The function treats `null` as absent unless
 * the schema allows null, and sets defaults of absent required fields. It ignores unknown fields unless the
 * schema forbids them, and refuses strings that PostgreSQL cannot store. A missing body counts as an empty
 * object if all fields can be absent.
 * @returns a function that returns the value in the schema's type, or throws ApiError `invalid_request` with
 * a line `field: reason` for each invalid field; fields of lists are named like `objects[3].text`
 */
export function createReader<const S extends TObject>(
  schema: S,
  options: InputOptions = {},
): (given: unknown) => Static<S> {
  const validator = Compile(schema);
  const { required = [], properties } = schema as Node;
  const nothing = required.every((name) => properties?.[name]?.default !== undefined) ? {} : null;
  return (given) => {
    const faults: Faults = [];
    const value = clean(schema as Node, given ?? nothing, options, [], faults);
    if (!validator.Check(value)) {
      const errors = validator
        .Errors(value)
        .map((error) => ({ ...error, path: pathOf(error.instancePath, value) }));
      for (const { keyword, params, path } of errors) {
        const missing = (params as { requiredProperties?: string[] }).requiredProperties ?? [];
        for (const name of missing) faults.push({ path: [...path, name], why: reason('required') });
        // The fault `additionalProperties` of a forbidden field is skipped. The keyword `boolean` reports the same
        // fault at the field's own path.
        if (missing.length > 0 || keyword === 'additionalProperties') continue;
        const node = nodeAt(schema as Node, path);
        const inner = withoutNull(node);
        const at = valueAt(value, path);
        // For a nullable value, only the faults inside the value are reported, and not the fault that it is not null.
        if (
          inner !== node &&
          ((inner.type === 'object' && isPlainObject(at)) || (inner.items && Array.isArray(at)))
        ) {
          if (errors.some((other) => other.path.length > path.length && isInside(other.path, path))) continue;
        }
        faults.push({ path, why: reasonOf(inner, keyword, at) });
      }
    }
    if (faults.length > 0) throw refuse(schema as Node, faults);
    return value as Static<S>;
  };
}

/**
 * Prepares a value for the check by its schema: trims strings, sets defaults, removes unknown fields. Values
 * whose type does not match the schema stay unchanged.
 */
function clean(node: Node, written: unknown, options: InputOptions, path: Path, faults: Faults): unknown {
  const inner = withoutNull(node);
  const given = options.fromText ? readText(inner, written) : written;
  if (given === null && inner !== node) return null;
  if (typeof given === 'string') {
    if (findUnusable(given) !== undefined) faults.push({ path, why: reason('unusable') });
    return inner['x-trim'] ? given.trim() : given;
  }
  if (Array.isArray(given) && inner.items !== undefined) {
    if (given.length > (inner.maxItems ?? Number.POSITIVE_INFINITY)) {
      faults.push({ path, why: listReason(inner, 'maxItems') });
      return []; // A list that is too long gets only this fault. Its items are not checked.
    }
    return given.map((item, index) => clean(inner.items!, item, options, [...path, index], faults));
  }
  if (!isPlainObject(given)) return given;
  const one = memberOf(inner, given);
  return one.type === 'object' ? cleanObject(one, given, options, path, faults) : given;
}

/**
 * Returns the member of a union that a value matches. If several match, returns the one with the most
 * required fields.
 */
function memberOf(node: Node, given: Record<string, unknown>): Node {
  const members = node.anyOf?.filter((member) => Check(member, given)) ?? [];
  const size = ({ required = [] }: Node) => required.length;
  return members.toSorted((one, other) => size(other) - size(one))[0] ?? node;
}

/** Converts the text of a path or query parameter to the type of its schema. */
function readText({ type }: Node, written: unknown): unknown {
  if (type === 'integer' && typeof written === 'string' && /^-?\d{1,15}$/.test(written))
    return Number(written);
  if (type === 'boolean' && (written === 'true' || written === 'false')) return written === 'true';
  return written;
}

function cleanObject(
  node: Node,
  given: Record<string, unknown>,
  options: InputOptions,
  path: Path,
  faults: Faults,
): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(given)) {
    const schema = fieldOf(node, name) ?? (node.additionalProperties === false ? {} : undefined);
    if (schema === undefined) continue;
    const cleaned = clean(schema, field, options, [...path, name], faults);
    const absent =
      cleaned === undefined ||
      (cleaned === null && withoutNull(schema) === schema) ||
      (cleaned === '' && options.emptyIsAbsent && isText(schema) && !node.required?.includes(name));
    // Defines the property, because an assignment to `__proto__` would set the prototype.
    if (!absent) {
      Object.defineProperty(value, name, {
        value: cleaned,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
  }
  for (const name of node.required ?? []) {
    const usual = node.properties?.[name]?.default;
    if (usual !== undefined && !Object.hasOwn(value, name)) value[name] = usual;
  }
  return value;
}

function fieldOf({ properties = {}, additionalProperties, patternProperties }: Node, name: string) {
  if (Object.hasOwn(properties, name)) return properties[name];
  if (typeof additionalProperties === 'object') return additionalProperties;
  return patternProperties?.['^.*$'];
}

/** For a union of null and one other schema, returns the other schema. Returns any other schema unchanged. */
function withoutNull(node: Node): Node {
  const others = node.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  return others.length === 1 && others.length < node.anyOf!.length ? others[0]! : node;
}

/**
 * Returns whether a schema describes strings. A schema with an `enum` has no `type`, so its values are
 * examined.
 */
const isText = ({ type, enum: values }: Node): boolean => type === 'string' || values !== undefined;

/** Returns whether a parsed JSON value is an object, not an array or null. */
export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the error message for an invalid value, according to its schema. */
function reasonOf(node: Node, keyword: string, value: unknown): Reason {
  const { minLength: least = 0, maxLength } = node;
  if (keyword === 'boolean') return 'cannot be changed here.';
  if (node.enum !== undefined) {
    return reason('one_of', { given: shorten(value), accepted: node.enum.join(', ') });
  }
  if (node.const !== undefined) return reason('exactly', { value: JSON.stringify(node.const) });
  if (node.type === 'integer') return numberReason(node);
  if (node.type === 'boolean') return reason('yes_or_no');
  if (node.type === 'object') return reason('object');
  if (node.type === 'array') return listReason(node, keyword);
  if (node.type !== 'string') return reason('shape');
  if (keyword === 'type') return formats.get(node.format!)?.('') ?? reason('text');
  if (keyword === 'pattern') return patterns.get(node.pattern!) ?? reason('shape');
  if (keyword === 'format') return formats.get(node.format!)?.(value as string) ?? reason('shape');
  if (maxLength === undefined) return reason('not_empty');
  return least === 0
    ? reason('text_at_most', { most: maxLength })
    : reason('text_length', { least, most: maxLength });
}

function numberReason({ minimum, maximum }: Node): Reason {
  if (minimum === undefined || maximum === undefined) return reason('number');
  return reason('whole_number', { least: minimum, most: maximum });
}

function listReason({ minItems = 0, maxItems, items }: Node, keyword: string): Reason {
  if (keyword === 'type' && (items?.type === 'string' || items?.enum !== undefined))
    return reason('list_of_texts');
  if (maxItems === undefined) return reason('any_list');
  return minItems === 0
    ? reason('list', { most: maxItems })
    : reason('list_length', { least: minItems, most: maxItems });
}

/** Shortens a value that an error message quotes. */
export function shorten(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

/**
 * Converts a JSON pointer such as `/objects/3/text` to `['objects', 3, 'text']`. In an object, a field name
 * of digits stays a string.
 */
function pathOf(pointer: string, value: unknown): Path {
  const path: Path = [];
  for (const written of pointer.split('/').slice(1)) {
    const name = written.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(valueAt(value, path)) ? Number(name) : name);
  }
  return path;
}

const isInside = (path: Path, outer: Path): boolean => outer.every((step, depth) => path[depth] === step);

function nodeAt(node: Node, path: Path): Node {
  return path.reduce<Node>((at, step) => {
    const inner = withoutNull(at);
    return (typeof step === 'number' ? inner.items : fieldOf(inner, step)) ?? {};
  }, node);
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce((at, step) => (at as Record<string | number, unknown> | undefined)?.[step], value);

/**
 * Returns the name of a path, such as `objects[3].text` or `body`. For an invalid string in a list, returns
 * the name of the list, because the message quotes the string.
 */
function nameOf(schema: Node, path: Path): string {
  if (path.length === 0) return 'body';
  const plain = typeof path.at(-1) === 'number' && nodeAt(schema, path).type !== 'object';
  const [first, ...rest] = plain ? path.slice(0, -1) : path;
  return `${first}${rest.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')}`;
}

/**
 * Replaces the error message of a fault by the `x-fault` of the outermost schema around it, if a schema has
 * one.
 */
function explain(schema: Node, fault: Faults[number]): Faults[number] {
  for (let depth = 1; depth <= fault.path.length; depth++) {
    const path = fault.path.slice(0, depth);
    const node = nodeAt(schema, path);
    const why = node['x-fault'] ?? withoutNull(node)['x-fault'];
    if (why !== undefined) return { path, why };
  }
  return fault;
}

/** Returns an error with the first fault of each field, in the order of the schema. */
function refuse(schema: Node, faults: Faults): ApiError {
  const places = new Map<string, Path>();
  const first = new Map<string, Reason>();
  for (const fault of faults) {
    const { path, why } = explain(schema, fault);
    const name = nameOf(schema, path);
    if (!first.has(name)) first.set(name, why);
    places.set(name, path);
  }
  const rank = (path: Path) =>
    path.map((step, depth) => {
      if (typeof step === 'number') return step;
      const fields = Object.keys(withoutNull(nodeAt(schema, path.slice(0, depth))).properties ?? {});
      return fields.indexOf(step);
    });
  const ranked = [...first].map(([name, why]) => ({ name, why, rank: rank(places.get(name)!) }));
  ranked.sort((one, other) => compareRanks(one.rank, other.rank));
  return wrongFields(Object.fromEntries(ranked.map(({ name, why }) => [name, why])));
}

function compareRanks(one: number[], other: number[]): number {
  const at = one.findIndex((place, depth) => place !== other[depth]);
  return at < 0 ? one.length - other.length : one[at]! - (other[at] ?? -1);
}
