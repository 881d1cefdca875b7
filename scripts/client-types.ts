// `npm run client-types` writes the types of the client and of the web app from their API descriptions. The client's are
// committed, because they are published. Those of the web app are written by each build, and by `npm run types`: with the
// argument `web`, only these.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { JsonSchema, OpenApi, OpenApiOperation } from '../packages/server/src/http/openapi.ts';
import { describeApp } from '../packages/server/src/roles/app.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const JSON_TYPE = 'application/json';

/**
 * Returns TypeScript types for the schemas of an API description, and its operations as data. Only the part of JSON
 * Schema that the descriptions use is supported.
 *
 * @throws TypeError for an unsupported schema
 */
export function printClientTypes(document: OpenApi): string {
  const shapes = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${comment(schema.description)}export type ${name} = ${print(schema)};\n`,
  );
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const operation = methods[method];
      return operation === undefined ? [] : [{ path, method: method.toUpperCase(), operation }];
    }),
  );
  const rows = operations.map(
    ({ path, method, operation }) => `  ${operation.operationId}: ['${method}', '${path}'],\n`,
  );
  const types = operations.map(
    ({ operation }) =>
      `${comment(operation.summary)}${operation.operationId}: {\n${[
        `path: ${printParameters(operation, 'path')}`,
        `query: ${printParameters(operation, 'query')}`,
        `body: ${print(operation.requestBody?.content[JSON_TYPE]?.schema)}`,
        `answer: ${printAnswers(operation)}`,
      ].join(';\n')}\n}`,
  );
  const text = [
    '// Written by `npm run client-types` from the description of the interface. Not to be edited.\n',
    ...shapes,
    `/** What an operation is sent and answers. */\nexport interface Operations {\n${types.join(';\n')}\n}\n`,
    `/** Where each operation is. */\nexport const OPERATIONS = {\n${rows.join('')}} as const;\n`,
  ].join('\n');
  return indent(text);
}

/** Indents each line by two spaces for each open brace. */
function indent(text: string): string {
  let depth = 0;
  const lines = text.split('\n').map((line) => {
    if (line.startsWith('}')) depth--;
    const indented = line === '' ? '' : `${'  '.repeat(depth)}${line.trimStart()}`;
    if (line.endsWith('{')) depth++;
    return indented;
  });
  return lines.join('\n');
}

function printParameters(operation: OpenApiOperation, place: string): string {
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === place);
  if (parameters.length === 0) return 'undefined';
  const fields = parameters.map(
    ({ name, required, schema, description }) =>
      `${comment(description)}${key(name)}${optional(print(schema), !required)}`,
  );
  return `{\n${fields.join(';\n')}\n}`;
}

/** Returns the union of the types of all successful responses. An empty body has the type undefined. */
function printAnswers(operation: OpenApiOperation): string {
  const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  return union(successes.map(([, { content }]) => print(content?.[JSON_TYPE]?.schema)));
}

function print(schema: JsonSchema | undefined): string {
  if (schema === undefined) return 'undefined';
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)!;
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map(literal));
  if (schema.anyOf !== undefined) return union(schema.anyOf.map(print));
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => print({ ...schema, type })));
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return arrayOf(print(schema.items));
    case 'object':
      return printObject(schema);
    default:
      throw new TypeError(`unsupported schema: ${JSON.stringify(schema)}`);
  }
}

function arrayOf(type: string): string {
  return /[ |]/.test(type) ? `(${type})[]` : `${type}[]`;
}

function printObject({ properties, required = [], additionalProperties }: JsonSchema): string {
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? print(additionalProperties) : 'unknown';
    return `Record<string, ${values}>`;
  }
  const fields = Object.entries(properties).map(
    ([name, field]) =>
      `${comment(field.description)}${key(name)}${optional(print(field), !required.includes(name))}`,
  );
  return `{\n${fields.join(';\n')}\n}`;
}

function optional(type: string, may: boolean): string {
  return may ? `?: ${type} | undefined` : `: ${type}`;
}

function literal(value: unknown): string {
  return typeof value === 'string' && !/['\\\n]/.test(value) ? `'${value}'` : JSON.stringify(value);
}

function union(types: string[]): string {
  return [...new Set(types)].join(' | ');
}

function key(name: string): string {
  return /^[a-z_]\w*$/i.test(name) ? name : literal(name);
}

function comment(text: string | undefined): string {
  return text === undefined ? '' : `/** ${text.replaceAll('*/', '*\\/')} */\n`;
}

const FILES = {
  public: '../packages/client/src/generated.ts',
  web: '../packages/web/src/api/generated.ts',
};

/** Writes the types of an audience, if they have changed: the build of the web app is older than its sources then. */
export async function writeClientTypes(audience: keyof typeof FILES): Promise<void> {
  const file = new URL(FILES[audience], import.meta.url);
  const types = printClientTypes(await describeApp(audience));
  if (!existsSync(file) || readFileSync(file, 'utf8') !== types) writeFileSync(file, types);
}

if (import.meta.main) {
  await writeClientTypes('web');
  if (process.argv[2] !== 'web') await writeClientTypes('public');
}
