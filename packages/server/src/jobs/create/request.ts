/** Reads and checks the bodies and headers of requests that create jobs. The functions are pure. */

import { hash } from 'node:crypto';
import type { Format } from '@dragoman/documents';
import Type, { type Static } from 'typebox';
import { type ApiError, fieldError, fieldErrors, tooLarge } from '../../base/errors.ts';
import { createReader, isPlainObject } from '../../http/input.ts';
import { IDEMPOTENCY_KEY, QUOTED_PRICE } from '../header-schemas.ts';
import {
  BulkRequest,
  JobRequest,
  MachineJobRequest,
  UpgradeRequest as UpgradeBody,
  UpgradedProperties,
} from '../schemas.ts';
import type { JobTier } from '../store.ts';

/** The body of a create. Absent, null and empty fields are `undefined`. */
export interface CreateRequest {
  text: string;
  sourceLanguage: string | undefined;
  targetLanguage: string;
  targetText: string | undefined;
  textFormat: Format;
  uid: string | undefined;
  callbackUrl: string | undefined;
  brand: string | undefined;
  tone: string | undefined;
  topics: string[] | undefined;
  instructions: string | undefined;
  /** Absent if false, so that requests without them have the hash that they had before these fields existed. */
  retranslate?: true;
  setLang?: true;
}

const OPTIONS = { emptyIsAbsent: true };
const readJob = createReader(JobRequest, OPTIONS);
const readMachineJob = createReader(MachineJobRequest, OPTIONS);
const readBulk = createReader(BulkRequest, OPTIONS);
const readUpgrade = createReader(UpgradeBody, OPTIONS);
const readKey = createReader(Type.Object({ idempotency_key: IDEMPOTENCY_KEY }));
const readPrice = createReader(Type.Object({ quoted_price: QUOTED_PRICE }));

/**
 * Reads the body of a create. `formality` is the older name of `tone`; an empty list of topics is absent.
 * @param maxTextBytes the maximum length of a text in bytes of UTF-8
 * @throws ApiError `invalid_request` with every invalid field, or `too_large`
 */
export function readCreateRequest(body: unknown, tier: JobTier, maxTextBytes: number): CreateRequest {
  const read = tier === 'human' ? readJob : readMachineJob;
  return toRequest(read(withoutFormality(body)), maxTextBytes);
}

/** The fields that name something outside the request: an address, a brand, a language. */
export type NamedFields = Partial<Record<'callbackUrl' | 'brand' | 'targetLanguage', string | undefined>>;

/** Returns the named fields of a body that cannot be read. @param error its error; fields with a line in it are left out */
export function readNamedFields(body: unknown, error: ApiError): NamedFields {
  if (!isPlainObject(body)) return {};
  const wrong = new Set(error.message.split('\n').map((line) => line.slice(0, line.indexOf(':'))));
  const read = (name: string) => {
    const value = body[name];
    return typeof value === 'string' && value.trim() !== '' && !wrong.has(name) ? value.trim() : undefined;
  };
  return { callbackUrl: read('callback_url'), brand: read('brand'), targetLanguage: read('target_language') };
}

/**
 * Removes `formality` if the request has a `tone`: old clients send every field, even with invalid values.
 */
function withoutFormality(body: unknown): unknown {
  if (!isPlainObject(body) || !body.tone) return body;
  const { formality: _, ...fields } = body;
  return fields;
}

/**
 * Converts the fields of a create to a request.
 * @param name the prefix of field names in errors, such as `objects[3].` in a bulk
 */
function toRequest(fields: Static<typeof JobRequest>, maxTextBytes: number, name = ''): CreateRequest {
  for (const field of ['text', 'target_text'] as const) {
    if (Buffer.byteLength(fields[field] ?? '') > maxTextBytes)
      throw tooLarge(`${name}${field}`, maxTextBytes);
  }
  const { topics = [], text_format: textFormat = 'text', retranslate, set_lang: setLang } = fields;
  if (retranslate && textFormat !== 'xliff') throw fieldError(`${name}retranslate`, onlyFor('xliff'));
  if (setLang && textFormat !== 'html') throw fieldError(`${name}set_lang`, onlyFor('html'));
  return {
    text: fields.text,
    sourceLanguage: fields.source_language,
    targetLanguage: fields.target_language,
    targetText: fields.target_text,
    textFormat,
    uid: fields.uid,
    callbackUrl: fields.callback_url,
    brand: fields.brand,
    tone: fields.tone ?? fields.formality,
    topics: topics.length > 0 ? topics : undefined,
    instructions: fields.instructions,
    ...(retranslate ? { retranslate } : {}),
    ...(setLang ? { setLang } : {}),
  };
}

const onlyFor = (format: Format) => `is only for the text_format ${format}.`;

function changeField(body: unknown, name: string, change: (given: unknown) => unknown): unknown {
  return isPlainObject(body) ? { ...body, [name]: change(body[name]) } : body;
}

/** An upgrade request with its hash, by which a repeated request is recognized. */
export interface ParsedUpgrade {
  /** The fields of a create, without those that are absent or null. */
  properties: Record<string, unknown>;
  hash: Buffer;
}

/**
 * Reads the body of an upgrade, `{"status":"upgrade","properties":{…}|null}`.
 * @throws ApiError `invalid_request`
 */
export function readUpgradeRequest(body: unknown): ParsedUpgrade {
  const { properties } = readUpgrade(changeField(body, 'properties', withoutFormality));
  const given = isPlainObject(body) && isPlainObject(body.properties) ? body.properties : {};
  // In an upgrade, an empty string removes the value that the machine job has.
  const known = Object.keys(UpgradedProperties.properties).flatMap((name) => {
    if (given[name] === '') return [[name, '']];
    return properties && name in properties ? [[name, properties[name as keyof typeof properties]]] : [];
  });
  return { properties: Object.fromEntries(known), hash: hash('sha256', JSON.stringify(known), 'buffer') };
}

/**
 * Reads a bulk create, `{"objects":[…]}`. Every object is the body of a human create, and uids must differ.
 * @throws ApiError `invalid_request` with every invalid field and the index of its object, or `too_large`
 */
export function readBulkRequest(body: unknown, maxTextBytes: number): CreateRequest[] {
  const { objects } = readBulk(
    changeField(body, 'objects', (given) => (Array.isArray(given) ? given.map(withoutFormality) : given)),
  );
  const requests = objects.map((object, index) => toRequest(object, maxTextBytes, `objects[${index}].`));
  const indexOf = new Map<string, number>();
  const complaints = requests.flatMap(({ uid }, index) => {
    if (uid === undefined) return [];
    const first = indexOf.get(uid);
    if (first === undefined) indexOf.set(uid, index);
    return first === undefined ? [] : [`objects[${index}].uid: is the uid of objects[${first}] as well.`];
  });
  if (complaints.length > 0) throw fieldErrors(complaints);
  return requests;
}

/**
 * Reads the `Idempotency-Key` header; undefined if it is absent.
 * @param hash returns the hash of the request
 * @throws ApiError `invalid_request`
 */
export function readIdempotencyKey(
  header: unknown,
  hash: () => Buffer,
): { key: string; requestHash: Buffer } | undefined {
  const { idempotency_key: key } = readKey({ idempotency_key: header });
  return key === undefined ? undefined : { key, requestHash: hash() };
}

/** Reads the `Quoted-Price` header, in cents; undefined if it is absent. @throws ApiError `invalid_request` */
export function readQuotedPrice(header: unknown): number | undefined {
  const { quoted_price: price } = readPrice({ quoted_price: header });
  return price === undefined ? undefined : Number(price);
}

/**
 * Returns the hash of a create. A repeated request has the same hash; a different request with the same uid has
 * another hash.
 */
export function fingerprint(tier: JobTier, request: CreateRequest): Buffer {
  const { uid: _, ...content } = request;
  return hash('sha256', JSON.stringify([tier, Object.entries(content)]), 'buffer');
}

/** Returns the hash of all requests under one idempotency key, including their uids. */
export function fingerprintRequests(kind: JobTier | 'bulk', requests: readonly CreateRequest[]): Buffer {
  const tier = kind === 'machine' ? 'machine' : 'human';
  const each = requests.map((request) => [request.uid, fingerprint(tier, request).toString('hex')]);
  return hash('sha256', JSON.stringify([kind, each]), 'buffer');
}
