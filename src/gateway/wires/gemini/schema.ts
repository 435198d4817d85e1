import { fieldsOf, isObject } from '../../../domain/base/object.ts'
import { asList, asText } from '../fields.ts'
import type { JsonObject } from '../model-request.ts'

// Gemini takes a part of OpenAPI 3.0, not JSON Schema, and refuses a whole request for one keyword that it does not know.

/** What Gemini takes of a JSON Schema. Undefined for an object without properties, which it takes only by silence. */
export function toGeminiSchema(schema: JsonObject): JsonObject | undefined {
  const reduced = reduce(schema, { root: schema, within: [] })
  return reduced.type === 'OBJECT' && reduced.properties === undefined ? undefined : reduced
}

interface Place {
  /** Where `$ref` points into. */
  readonly root: JsonObject
  /** The references being followed: one that leads into itself ends in an object of any shape. */
  readonly within: readonly string[]
}

const kept = ['title', 'description', 'pattern', 'minimum', 'maximum'] as const
const counts = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'] as const
const formats: Readonly<Record<string, readonly string[]>> = {
  STRING: ['date-time', 'enum'],
  NUMBER: ['float', 'double'],
  INTEGER: ['int32', 'int64'],
}

function reduce(schema: unknown, outer: Place): JsonObject {
  if (!isObject(schema)) return anything({})
  const reference = asText(schema.$ref)
  if (reference !== '') return reduceReference(schema, reference, outer)
  const { whole, within } = joined(schema, outer)
  const place = { ...outer, within }
  const types = typesOf(whole)
  const isNullable = types.includes('null') || whole.nullable === true
  const named = types.filter((type) => type !== 'null')
  const nullable = isNullable ? { nullable: true } : {}
  const choices = [...asList(whole.anyOf), ...asList(whole.oneOf)].map(fieldsOf)
  if (choices.length > 0) return { ...reduceChoices(whole, choices, place), ...nullable }
  if (named.length > 1) {
    const choices = named.map((type) => ({ ...without(whole, 'type', 'title', 'description', 'nullable'), type }))
    return { ...pick(whole, ['title', 'description']), anyOf: choices.map((it) => reduce(it, place)), ...nullable }
  }
  const type = named[0]
  return type === undefined
    ? anything({ ...pick(whole, ['title', 'description']), ...nullable })
    : { ...ofType(type, whole, place), ...nullable }
}

function ofType(lower: string, schema: JsonObject, place: Place): JsonObject {
  const type = lower.toUpperCase()
  const format = asText(schema.format)
  return {
    type,
    ...pick(schema, kept),
    ...pick(schema, counts),
    ...(formats[type]?.includes(format) ? { format } : {}),
    ...values(type, schema),
    ...(type === 'OBJECT' ? properties(schema, place) : {}),
    ...(type === 'ARRAY' ? { items: items(schema, place) } : {}),
  }
}

/** Only texts can be enumerated; of other values the description tells. */
function values(type: string, schema: JsonObject): JsonObject {
  const all = 'const' in schema ? [schema.const] : asList(schema.enum).filter((value) => value !== null)
  if (all.length === 0) return {}
  if (type === 'STRING') {
    const texts = all.map(String).filter((text) => text !== '')
    return texts.length === 0 ? {} : { enum: texts }
  }
  const described = [asText(schema.description), `One of: ${all.map((it) => JSON.stringify(it)).join(', ')}.`]
  return { description: described.filter(Boolean).join(' ') }
}

function properties(schema: JsonObject, place: Place): JsonObject {
  const all = Object.entries(fieldsOf(schema.properties))
  if (all.length === 0) return {}
  const required = asList(schema.required).filter((name) => all.some(([known]) => known === name))
  return {
    properties: Object.fromEntries(all.map(([name, inner]) => [name, reduce(inner, place)])),
    ...(required.length === 0 ? {} : { required }),
  }
}

/** Gemini wants to know what is in a list, and knows no list whose places differ. */
function items(schema: JsonObject, place: Place): JsonObject {
  const places = asList(Array.isArray(schema.items) ? schema.items : schema.prefixItems)
  if (places.length > 1) return { anyOf: places.map((it) => reduce(it, place)) }
  const one = places[0] ?? schema.items
  return isObject(one) ? reduce(one, place) : { type: 'STRING' }
}

function reduceChoices(schema: JsonObject, choices: readonly JsonObject[], place: Place): JsonObject {
  const some = choices.filter((choice) => choice.type !== 'null')
  const nullable = some.length < choices.length ? { nullable: true } : {}
  const about = pick(schema, ['title', 'description'])
  // What stands beside the choices holds for each of them.
  const beside = without(schema, 'anyOf', 'oneOf', 'title', 'description', 'nullable')
  const all = some.map((choice) => reduce(merge(beside, choice), place))
  const [only] = all
  if (all.length === 1) return { ...only, ...about, ...nullable }
  return all.length === 0 ? anything({ ...about, ...nullable }) : { ...about, anyOf: all, ...nullable }
}

/** Deep enough for any real tool; schemas that refer to each other in many ways would grow without end. */
const maxReferences = 8

const leadsOn = (reference: string, { within }: Place) => !within.includes(reference) && within.length < maxReferences

function reduceReference(schema: JsonObject, reference: string, place: Place): JsonObject {
  const about = pick(schema, ['description'])
  if (!leadsOn(reference, place)) return { type: 'OBJECT', ...about }
  return { ...reduce(pointed(place.root, reference), { ...place, within: [...place.within, reference] }), ...about }
}

/** A schema and all that `allOf` adds to it, and the references followed for it. */
function joined(schema: JsonObject, place: Place): { whole: JsonObject; within: readonly string[] } {
  let whole = without(schema, 'allOf')
  let within = place.within
  for (const part of asList(schema.allOf).map(fieldsOf)) {
    const reference = asText(part.$ref)
    if (reference !== '' && !leadsOn(reference, { ...place, within })) continue
    const target = reference === '' ? part : { ...pointed(place.root, reference), ...without(part, '$ref') }
    const inner = joined(target, { ...place, within: reference === '' ? within : [...within, reference] })
    whole = merge(whole, inner.whole)
    within = inner.within
  }
  return { whole, within }
}

function pointed(root: JsonObject, reference: string): JsonObject {
  const names = reference.replace(/^#\/?/, '').split('/').filter(Boolean)
  const name = (it: string) => decodeURIComponent(it).replaceAll('~1', '/').replaceAll('~0', '~')
  return fieldsOf(names.reduce<unknown>((inner, it) => fieldsOf(inner)[name(it)], root))
}

/** The types that a schema names, or that follow from its other words. */
function typesOf(schema: JsonObject): string[] {
  const named = [schema.type]
    .flat()
    .filter((type) => typeof type === 'string')
    .map((type) => type.toLowerCase())
  if (named.length > 0) return named
  if (isObject(schema.properties)) return ['object']
  if (schema.items !== undefined || schema.prefixItems !== undefined) return ['array']
  const values = 'const' in schema ? [schema.const] : asList(schema.enum)
  return [...new Set(values.map(typeOfValue))]
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

/** Gemini has no word for any value at all. */
const anything = (about: JsonObject): JsonObject => ({
  ...about,
  anyOf: ['STRING', 'NUMBER', 'BOOLEAN', 'OBJECT'].map((type) => ({ type })),
})

function merge(one: JsonObject, other: JsonObject): JsonObject {
  const both = { ...one, ...other }
  const properties = { ...fieldsOf(one.properties), ...fieldsOf(other.properties) }
  const required = [...new Set([...asList(one.required), ...asList(other.required)])]
  return {
    ...both,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  }
}

const pick = (schema: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.filter((name) => schema[name] !== undefined).map((name) => [name, schema[name]]))

const without = (schema: JsonObject, ...names: string[]): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)))

/** Gemini's own words for a schema as JSON Schema. */
export function fromGeminiSchema(schema: JsonObject): JsonObject {
  const type = asText(schema.type).toLowerCase()
  const { nullable, propertyOrdering: _, ...rest } = schema
  const read: Record<string, unknown> = { ...rest }
  if (type === '' || type === 'type_unspecified') delete read.type
  else read.type = nullable === true ? [type, 'null'] : type
  // Its JSON writes whole numbers of 64 bits as texts.
  for (const name of counts) if (name in read) read[name] = Number(read[name])
  if (isObject(rest.properties)) {
    read.properties = Object.fromEntries(
      Object.entries(rest.properties).map(([name, it]) => [name, fromGeminiSchema(fieldsOf(it))]),
    )
  }
  if (isObject(rest.items)) read.items = fromGeminiSchema(rest.items)
  if (Array.isArray(rest.anyOf)) {
    const choices = rest.anyOf.map((it) => fromGeminiSchema(fieldsOf(it)))
    read.anyOf = nullable === true ? [...choices, { type: 'null' }] : choices
  }
  return read
}
