/** A JSON object whose fields nobody has checked yet. */
export type Fields = Readonly<Record<string, unknown>>

/** True for a JSON object: neither null nor an array. */
export const isObject = (value: unknown): value is Record<string, unknown> => isObjectOrArray(value) && !Array.isArray(value)

/** True for every value that has keys of its own. `typeof` alone takes null for one. */
export const isObjectOrArray = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Returns undefined for what is no JSON object. */
export const asObject = (value: unknown): Fields | undefined => (isObject(value) ? value : undefined)

/** Returns no fields for what is no JSON object. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})
