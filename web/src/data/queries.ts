import { MutationCache, QueryClient } from '@tanstack/react-query'
import { PawlError } from '../../../src/domain/error.ts'

/** What was asked of the daemon stays until something changes there; `useLive` says when. */
export const queries = new QueryClient({
  defaultOptions: {
    // The daemon may be on this machine, which needs no network to reach it.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 30_000,
      // A refusal stays one; a daemon that does not answer may be starting again.
      retry: (failures, error) => error instanceof PawlError && error.code === 'unavailable' && failures < 5,
      retryDelay: (failures) => Math.min(400 * 2 ** failures, 5_000),
    },
  },
  // Whatever was done may show anywhere.
  mutationCache: new MutationCache({ onSettled: () => void queries.invalidateQueries() }),
})
