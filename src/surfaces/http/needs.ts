import type { Context } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { Right } from '../../domain/auth/role.ts'
import type { MountedRoute } from '../mount.ts'
import type { App, HttpEnv } from './app.ts'

const mark = 'x-pawl-right'

/** Goes into the definition of every route: the right that whoever asks must have. The gate and the test of the gate are made from these. */
export const needs = (right: Right) => ({ [mark]: right }) as const

const pages = new WeakMap<App, Set<string>>()

/** Adds a file of the page, which is open to all and no part of the API. */
export function addPage(app: App, path: string, answer: (c: Context<HttpEnv>) => Response | Promise<Response>): void {
  pages.set(app, (pages.get(app) ?? new Set<string>()).add(path))
  app.get(path, answer)
}

const mounted = new WeakMap<App, Map<string, MountedRoute>>()

/** Adds a route of another surface, which is no part of the API's description. */
export function addMounted(app: App, route: MountedRoute, answer: (c: Context<HttpEnv>) => Promise<Response>): void {
  mounted.set(app, (mounted.get(app) ?? new Map<string, MountedRoute>()).set(`${route.method} ${route.path}`, route))
  app.on(route.method, route.path, answer)
}

/** The route of another surface that takes a request, if one does. */
export function mountedFor(app: App, c: Context<HttpEnv>): MountedRoute | undefined {
  const route = matchedRoutes(c).findLast(({ method }) => method !== 'ALL')
  return route && mounted.get(app)?.get(`${route.method} ${route.path}`)
}

/** Every route with the right it names, undefined where one names none. Paths as the router writes them. */
export function declaredRights(app: App): Map<string, Right | undefined> {
  const declared = new Map<string, Right | undefined>()
  for (const { method, path } of app.routes) if (method !== 'ALL') declared.set(`${method} ${path}`, undefined)
  for (const definition of app.openAPIRegistry.definitions) {
    if (definition.type !== 'route') continue
    const { method, path } = definition.route
    declared.set(
      `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      (definition.route as { [mark]?: Right })[mark],
    )
  }
  for (const path of pages.get(app) ?? []) declared.set(`GET ${path}`, 'open')
  for (const [route, { right }] of mounted.get(app) ?? []) declared.set(route, right)
  return declared
}

/** The right that a request needs. Undefined if no route takes it; a route that names none is the admins'. */
export function rightFinder(app: App): (c: Context<HttpEnv>) => Right | undefined {
  let declared: ReturnType<typeof declaredRights> | undefined
  return (c) => {
    declared ??= declaredRights(app)
    const route = matchedRoutes(c).findLast(({ method }) => method !== 'ALL')
    return route && (declared.get(`${route.method} ${route.path}`) ?? 'administer')
  }
}
