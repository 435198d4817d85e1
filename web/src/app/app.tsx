import { QueryClientProvider } from '@tanstack/react-query'
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, RouterProvider } from '@tanstack/react-router'
import { queries } from '../data/queries.ts'
import { Failure, Loading, NotHere } from '../parts/states.tsx'
import { Frame } from './frame.tsx'
import { screens } from './screens.ts'

const root = createRootRoute({ component: Frame, notFoundComponent: NotHere })
const routes = screens.map(({ path, load }) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) }),
)
const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultErrorComponent: ({ error, reset }) => <Failure error={error} again={reset} />,
  scrollRestoration: true,
})

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  )
}
