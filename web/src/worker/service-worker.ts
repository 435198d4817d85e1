import { onNotificationClick, onPush } from './push.ts'
import type { WorkerScope } from './scope.ts'

/** Put in by the build: the files of this page, and a name that changes with any of them. */
declare const pageBuild: { readonly version: string; readonly files: readonly string[] }

const worker = globalThis as unknown as WorkerScope
const kept = 'pawl-page-'
const cacheName = `${kept}${pageBuild.version}`
const files = new Set(pageBuild.files)

/**
 * Keeps the page itself, so that it opens while the daemon is away and can say so; and shows what the daemon pushes. What the daemon answers is never kept: an old
 * answer would be taken for the truth.
 */
worker.addEventListener('install', (event) => {
  const keep = async () => {
    const cache = await worker.caches.open(cacheName)
    await cache.addAll(pageBuild.files.map((path) => new Request(path, { cache: 'reload' })))
  }
  event.waitUntil(keep())
})

worker.addEventListener('activate', (event) => {
  const takeOver = async () => {
    const names = await worker.caches.keys()
    const old = names.filter((name) => name.startsWith(kept) && name !== cacheName)
    await Promise.all(old.map((name) => worker.caches.delete(name)))
    await worker.clients.claim()
  }
  event.waitUntil(takeOver())
})

worker.addEventListener('fetch', (event) => {
  const { request } = event
  const url = new URL(request.url)
  if (request.method !== 'GET' || url.origin !== worker.location.origin) return
  // Whoever opens a screen gets the page that the daemon has now; the kept one only if there is no answer.
  if (request.mode === 'navigate') event.respondWith(fetch(request).catch(() => keptFile('/')))
  else if (files.has(url.pathname)) event.respondWith(keptFile(url.pathname).catch(() => fetch(request)))
})

worker.addEventListener('message', (event) => {
  if (event.data === 'take over') event.waitUntil(worker.skipWaiting())
  // A page asks whether it is of the same build.
  else if (typeof event.data === 'string') event.ports[0]?.postMessage(files.has(event.data))
})

worker.addEventListener('push', (event) => event.waitUntil(onPush(worker, event.data)))
worker.addEventListener('notificationclick', (event) => event.waitUntil(onNotificationClick(worker, event.notification)))

async function keptFile(path: string): Promise<Response> {
  const found = await worker.caches.match(path, { cacheName })
  if (!found) throw new Error(`${path} is not kept`)
  return found
}
