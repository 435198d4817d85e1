/** Browsers that know trusted types take the address of a worker only from a policy. Ours gives out one address. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

const address = '/service-worker.js'

function trusted(): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  return trustedTypes?.createPolicy('pawl', { createScriptURL: () => address }).createScriptURL(address) ?? address
}

let registered: Promise<ServiceWorkerRegistration | undefined> | undefined
let isOutdated = false
const told = new Set<() => void>()

/** Has the browser keep the page. Undefined where it cannot: without TLS, from another machine than this one. */
export function keepPage(): Promise<ServiceWorkerRegistration | undefined> {
  registered ??= (async () => {
    if (!('serviceWorker' in navigator) || !import.meta.env.PROD) return undefined
    const registration = await navigator.serviceWorker.register(trusted(), { updateViaCache: 'none' })
    const expect = () => {
      const worker = registration.installing
      worker?.addEventListener('statechange', () => {
        // The very first one takes over by itself.
        if (worker.state === 'installed' && registration.active) void meet(worker)
      })
    }
    void meet(registration.waiting)
    // The browser looks for a newer one by itself when a page is loaded, and may have found it by now.
    expect()
    registration.addEventListener('updatefound', expect)
    return registration
  })().catch((error: unknown) => {
    console.warn('The page is not kept for offline use.', error)
    return undefined
  })
  return registered
}

/** Whether the daemon has a newer page than this one. */
export const newerPage = {
  isThere: () => isOutdated,
  subscribe(tell: () => void): () => void {
    told.add(tell)
    return () => void told.delete(tell)
  },
}

/** A worker of the same build as this page takes over at once; that of a newer one waits until the newer page is loaded, because this one needs the files of the old. */
async function meet(worker: ServiceWorker | null): Promise<void> {
  if (!worker) return
  if (await isOfThisBuild(worker)) return worker.postMessage('take over')
  isOutdated = true
  for (const tell of told) tell()
}

async function isOfThisBuild(worker: ServiceWorker): Promise<boolean> {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"][src]')
  if (!script) return true
  const { port1, port2 } = new MessageChannel()
  const answer = new Promise<boolean>((resolve) => {
    port1.onmessage = ({ data }) => resolve(data === true)
  })
  worker.postMessage(new URL(script.src).pathname, [port2])
  return answer
}

const place = 'pawl-reloaded'

/** A part of a page that the daemon has no more, since it was renewed: the new page is loaded, once. */
export function reloadWhenOutdated(): void {
  addEventListener('vite:preloadError', (event) => {
    const last = Number(sessionStorage.getItem(place) ?? 0)
    if (Date.now() - last < 10_000) return
    event.preventDefault()
    sessionStorage.setItem(place, String(Date.now()))
    location.reload()
  })
}
