/** Log lines for the operator: one JSON object per line on stderr, or a short text line on a terminal. */
export type Level = 'debug' | 'info' | 'warn' | 'error'
export type Fields = Record<string, unknown>

export interface Log {
  debug(message: string, fields?: Fields): void
  info(message: string, fields?: Fields): void
  warn(message: string, fields?: Fields): void
  error(message: string, fields?: Fields): void
  with(fields: Fields): Log
}

/** A text line is one line, whatever an agent or an error says. */
const lineBreak = /[\r\n\u2028\u2029]/g
const breaks: Record<string, string> = { '\n': '\\n', '\r': '\\r' }

const order: Record<Level, number> = { debug: 0, info: 1, warn: 2, error: 3 }

export function createLog(
  options: { level: Level; write: (line: string) => void; format: 'json' | 'text'; now: () => number },
  bound: Fields = {},
): Log {
  const line =
    (level: Level) =>
    (message: string, fields: Fields = {}) => {
      if (order[level] < order[options.level]) return
      const all = { ...bound, ...fields }
      const at = new Date(options.now()).toISOString()
      if (options.format === 'json') options.write(JSON.stringify({ at, level, message, ...all }))
      else {
        const rest = Object.entries(all).filter(([, value]) => value !== undefined)
        const words = rest.map(([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
        options.write(`${at} ${level} ${message}${words.join('')}`.replaceAll(lineBreak, (sign) => breaks[sign] ?? ' '))
      }
    }
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    with: (fields) => createLog(options, { ...bound, ...fields }),
  }
}

/** The same log, in which no line says a secret. */
export function redactedLog(log: Log, redact: <T>(value: T) => T): Log {
  const line = (level: Level) => (message: string, fields?: Fields) => log[level](redact(message), redact(fields))
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    with: (fields) => redactedLog(log.with(redact(fields)), redact),
  }
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silentLog }
