/**
 * Writes answers as JSON. A described answer has only the fields that its schema names, so a column that was selected by
 * mistake is not sent. A handler can therefore return rows of the database. An answer of an operation that describes
 * answers, but not this one, is refused (`openapi.ts`). Errors are sent with all their fields (`ApiError.more`): code that
 * puts rows into an error projects them first.
 */
import type { Static, TSchema } from 'typebox';

/**
 * What a handler returns for a schema: its type, in which an optional field may be null in place of absent. Fields that the
 * schema does not name may be there as well.
 */
export type Answer<Schema extends TSchema> = Returned<Static<Schema>>;

type Returned<T> = T extends Date | string | number | boolean | null
  ? T
  : { [Name in keyof T]: Returned<T[Name]> | (undefined extends T[Name] ? null : never) };

/** The parts of a JSON Schema that decide which fields an answer has. */
interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: readonly Schema[];
  enum?: readonly unknown[];
  const?: unknown;
}

type Projection = (value: unknown) => unknown;

interface Field {
  project: Projection | undefined;
  /** Whether null means that the field is absent. */
  nullIsAbsent: boolean;
}

/**
 * Returns a function that projects a value by a schema: the result has only the fields that the schema names, and no null
 * in place of an absent field. The schema is compiled at the first value, because most processes serve few operations.
 */
export function createProjector<S extends TSchema>(schema: S): (value: Answer<S>) => unknown {
  let project: Projection | undefined;
  return (value) => {
    project ??= projectionOf([schema as Schema]) ?? ((given) => given);
    return project(value);
  };
}

/** Returns a function that writes an answer as JSON. Times (`Date`) become ISO texts. */
export function createAnswerWriter(schema: unknown): (answer: unknown) => string {
  const project = createProjector(schema as TSchema) as Projection;
  return (answer) => JSON.stringify(project(answer));
}

/**
 * Returns a function that copies the fields of a value that one of the schemas names, in the order of the value. An
 * optional field that is null is left out, unless its schema allows null. The function does not check the value.
 * @returns undefined if the schemas restrict no fields
 */
function projectionOf(schemas: readonly Schema[]): Projection | undefined {
  const forms = schemas.flatMap(({ anyOf, ...schema }) => anyOf ?? [schema]);
  if (forms.some(({ anyOf }) => anyOf !== undefined)) return projectionOf(forms);
  const items = projectionOfItems(forms);
  const fields = projectionOfFields(forms.filter(({ type }) => type === 'object'));
  if (items === undefined && fields === undefined) return undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null) return value;
    const project = Array.isArray(value) ? items : fields;
    return project === undefined ? value : project(value);
  };
}

function projectionOfItems(forms: readonly Schema[]): Projection | undefined {
  const schemas = forms.flatMap(({ items }) => items ?? []);
  const project = schemas.length === 0 ? undefined : projectionOf(schemas);
  return project && ((value) => (value as unknown[]).map(project));
}

function projectionOfFields(objects: readonly Schema[]): Projection | undefined {
  const isOpen = objects.some((one) => one.additionalProperties === true || one.patternProperties);
  if (objects.length === 0 || isOpen) return undefined;
  const names = new Set(objects.flatMap(({ properties = {} }) => Object.keys(properties)));
  const fields = new Map([...names].map((name) => [name, fieldOf(objects, name)]));
  const keepsAll = (value: Record<string, unknown>) => {
    for (const name in value) {
      const field = fields.get(name);
      if (field === undefined || field.project !== undefined) return false;
      if (field.nullIsAbsent && value[name] === null) return false;
    }
    return true;
  };
  return (value) => {
    // A copy costs as much as writing it, and most answers need none.
    if (keepsAll(value as Record<string, unknown>)) return value;
    const kept: Record<string, unknown> = {};
    for (const [name, given] of Object.entries(value as object)) {
      const field = fields.get(name);
      if (field === undefined || (given === null && field.nullIsAbsent)) continue;
      kept[name] = field.project === undefined ? given : field.project(given);
    }
    return kept;
  };
}

function fieldOf(objects: readonly Schema[], name: string): Field {
  const schemas = objects.flatMap(({ properties }) => properties?.[name] ?? []);
  const isRequired = objects.some(({ required }) => required?.includes(name));
  return { project: projectionOf(schemas), nullIsAbsent: !isRequired && !schemas.some(allowsNull) };
}

/** A schema without a type, an enumeration or a constant allows every value. */
function allowsNull({ type, anyOf, enum: values, const: constant }: Schema): boolean {
  if (anyOf !== undefined) return anyOf.some(allowsNull);
  if (values !== undefined) return values.includes(null);
  return constant === undefined ? type === undefined || type === 'null' : constant === null;
}
