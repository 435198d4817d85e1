import pg from 'pg'

/** What of a driver's result says how its rows look. Not in the types of pg. */
interface Shape {
  fields: readonly unknown[]
  _parsers: unknown
  _prebuiltEmptyResultObject: unknown
}
interface Driver {
  name?: string
  _result: Shape
  _accumulateRows: boolean
  prepare(connection: object): void
  handleCommandComplete(message: unknown, connection: object): void
}
const DriverQuery = pg.Query as unknown as new (
  text: string,
  values: readonly unknown[],
  heard: (error: Error | null, result: pg.QueryResult) => void,
) => Driver & pg.Submittable

/** A time as the server reads it; the driver takes ten times as long to write the same. What lies beyond four digits of a year is left to it. */
const withTime = (value: unknown) =>
  value instanceof Date && value.getTime() >= 0 && value.getTime() < endOfYear9999 ? value.toISOString() : value
const endOfYear9999 = Date.UTC(10_000, 0)

/** What one connection knows of the statements that its server keeps plans of. */
export interface Known {
  readonly shapes: Map<string, Shape>
  /** The connection, but that nothing is asked about rows on it. */
  quiet?: object
}

/**
 * One statement on its way. How its rows look is asked once per connection for each plan: as long as the server keeps a plan, its rows cannot look otherwise, and to hear and to read
 * that again takes longer than the rows.
 */
export class Statement extends DriverQuery {
  readonly #known: Known

  constructor(
    { text, values, name, known }: { text: string; values: readonly unknown[]; name: string | undefined; known: Known },
    heard: (error: Error | null, result: pg.QueryResult) => void,
  ) {
    super(text, values.map(withTime), heard)
    if (name !== undefined) this.name = name
    this.#known = known
  }

  override prepare(connection: object): void {
    const shape = this.name === undefined ? undefined : this.#known.shapes.get(this.name)
    if (shape) {
      Object.assign(this._result, shape)
      this._accumulateRows = true
      this.#known.quiet ??= Object.create(connection, { describe: { value: () => undefined } }) as object
    }
    super.prepare(shape ? this.#known.quiet! : connection)
  }

  override handleCommandComplete(message: unknown, connection: object): void {
    if (this.name !== undefined && !this.#known.shapes.has(this.name)) {
      const { fields, _parsers, _prebuiltEmptyResultObject } = this._result
      this.#known.shapes.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject })
    }
    super.handleCommandComplete(message, connection)
  }
}
