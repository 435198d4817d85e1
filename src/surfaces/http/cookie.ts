/** The cookie of a browser that has signed in. Under TLS its name binds it to exactly this host. */
const nameOf = (isSecure: boolean) => (isSecure ? '__Host-pawl' : 'pawl-session')

export function cookieFor(session: string, options: { isSecure: boolean; maxAgeS: number }): string {
  const parts = [`${nameOf(options.isSecure)}=${session}`, 'Path=/', 'HttpOnly', 'SameSite=Strict', `Max-Age=${options.maxAgeS}`]
  return [...parts, ...(options.isSecure ? ['Secure'] : [])].join('; ')
}

interface Asked {
  readonly method: string
  header(name: string): string | undefined
}

/**
 * What a browser shows, if it counts. Browsers send cookies by themselves, also for pages of others and to every port of a host, so a cookie counts only with
 * what a page cannot forge: an Origin that is the very Host asked, or for reading, that the browser says the request is of our own page or that a person opened the
 * address by themselves.
 */
export function browserShows(request: Asked, isSecure: boolean): string | undefined {
  const origin = request.header('origin')
  const site = request.header('sec-fetch-site')
  const isReading = request.method === 'GET' || request.method === 'HEAD'
  const isOurPage =
    origin === undefined
      ? isReading && (site === 'same-origin' || (site === 'none' && request.header('sec-fetch-mode') === 'navigate'))
      : isOfHost(origin, request.header('host'))
  if (!isOurPage) return undefined
  const shown = (request.header('cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim().split('='))
    .filter(([name]) => name === nameOf(isSecure))
  // One that was planted beside ours must not win.
  return shown.length === 1 ? shown[0]!.slice(1).join('=') : undefined
}

const isOfHost = (origin: string, host: string | undefined) =>
  /^https?:\/\//.test(origin) && origin.replace(/^https?:\/\//, '').toLowerCase() === host?.toLowerCase()
