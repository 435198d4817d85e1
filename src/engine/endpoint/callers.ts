import type { IncomingMessage } from 'node:http'

/** Under these names the door is told to the program. */
const names = new Set(['127.0.0.1', 'localhost', '[::1]'])

/**
 * Does a page in a browser ask? Programs name the door as they were told it and have no origin. Without walls the door stands on a loopback that browsers share: a page of
 * another site, or one whose name was made to lead here, is to get no word of it, whatever it knows.
 */
export function isOfPage({ headers }: IncomingMessage): boolean {
  const host = /^(.+?)(?::\d{1,5})?$/.exec(headers.host?.toLowerCase() ?? '')?.[1]
  return host === undefined || !names.has(host) || headers.origin !== undefined || headers['sec-fetch-site'] !== undefined
}
