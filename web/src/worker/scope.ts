/** What of a service worker's world is used here: the compiler knows that world or the page's, not both. */
export interface WorkerScope {
  readonly location: Location
  readonly caches: CacheStorage
  readonly registration: ServiceWorkerRegistration
  readonly clients: {
    matchAll(options: { type: 'window'; includeUncontrolled: boolean }): Promise<readonly WindowClient[]>
    openWindow(url: string): Promise<unknown>
    claim(): Promise<void>
  }
  skipWaiting(): Promise<void>
  addEventListener<T extends keyof WorkerEvents>(type: T, listener: (event: WorkerEvents[T]) => void): void
}

export interface WindowClient {
  readonly url: string
  readonly visibilityState: 'hidden' | 'visible'
  focus(): Promise<unknown>
  navigate(url: string): Promise<unknown>
}

interface Lasting {
  waitUntil(work: Promise<unknown>): void
}

export interface WorkerEvents {
  install: Lasting
  activate: Lasting
  fetch: Lasting & { readonly request: Request; respondWith(answer: Promise<Response>): void }
  message: Lasting & { readonly data: unknown; readonly ports: readonly MessagePort[] }
  push: Lasting & { readonly data: { json(): unknown } | null }
  notificationclick: Lasting & { readonly notification: Notification }
}
