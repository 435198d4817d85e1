import {
  type AuthProvider,
  auth,
  type OAuthClientInformationContext,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { HttpServer } from '../../domain/agent/mcp-server.ts'
import type { TokenKeeper } from './port.ts'

/** What is kept of one server, by the address of who lets in there: what one issuer gave is never shown to another. */
const Kept = z.object({
  clients: z.record(z.string(), z.looseObject({})).default({}),
  tokens: z.record(z.string(), z.looseObject({})).default({}),
  /** Whose tokens were stored last. */
  latest: z.string().optional(),
})
type Kept = z.infer<typeof Kept>

export interface SignIn {
  /** Where a browser is sent back to; undefined where nobody sits. */
  readonly redirectUrl: string | undefined
  /** Shows the address to the person; what they bring back is given to the transport by whoever began this. */
  show?(url: URL): void | Promise<void>
  readonly state?: string | undefined
  /** Where Pawl describes itself, for those who read that instead of a registration. */
  readonly clientMetadataUrl?: string | undefined
}

/** Lets Pawl in at servers that ask for OAuth: by what was kept, renewed when it ends, or by a person who signs in. */
export function createOAuth(
  name: string,
  settings: Pick<NonNullable<HttpServer['oauth']>, 'grant' | 'scope'> & {
    readonly clientId?: string | undefined
    readonly clientSecret?: string | undefined
  },
  { keeper, signIn }: { readonly keeper: TokenKeeper; readonly signIn?: SignIn | undefined },
): OAuthClientProvider {
  const { clientId, clientSecret, grant, scope } = settings
  let verifier: string | undefined
  let discovery: OAuthDiscoveryState | undefined
  const read = async (): Promise<Kept> => {
    const text = await keeper.read(name)
    return Kept.parse(text === undefined ? {} : JSON.parse(text))
  }
  const write = async (change: (kept: Kept) => Kept) => keeper.write(name, JSON.stringify(change(await read())))
  const at = (ctx: OAuthClientInformationContext | undefined, issuer?: string) => ctx?.issuer ?? issuer ?? ''
  const isAlone = grant === 'client_credentials'
  const provider: OAuthClientProvider = {
    get redirectUrl() {
      return isAlone ? undefined : signIn?.redirectUrl
    },
    get clientMetadata(): OAuthClientMetadata {
      return {
        client_name: 'Pawl',
        redirect_uris: isAlone || !signIn?.redirectUrl ? [] : [signIn.redirectUrl],
        grant_types: isAlone ? ['client_credentials'] : ['authorization_code', 'refresh_token'],
        response_types: isAlone ? [] : ['code'],
        ...(clientSecret === undefined && !isAlone ? {} : { token_endpoint_auth_method: 'client_secret_basic' }),
        ...(scope === undefined ? {} : { scope }),
      }
    },
    async clientInformation(ctx) {
      if (clientId !== undefined)
        return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) }
      return (await read()).clients[at(ctx)] as StoredOAuthClientInformation | undefined
    },
    async saveClientInformation(information, ctx) {
      await write((kept) => ({
        ...kept,
        clients: { ...kept.clients, [at(ctx, information.issuer)]: information as unknown as Record<string, unknown> },
      }))
    },
    async tokens(ctx) {
      const kept = await read()
      return kept.tokens[ctx ? at(ctx) : (kept.latest ?? '')] as StoredOAuthTokens | undefined
    },
    async saveTokens(tokens, ctx) {
      // Whoever is refused with them may have moved: then it is looked up anew who lets in.
      discovery = undefined
      const issuer = at(ctx, tokens.issuer)
      await write((kept) => ({
        ...kept,
        latest: issuer,
        tokens: { ...kept.tokens, [issuer]: tokens as unknown as Record<string, unknown> },
      }))
    },
    async redirectToAuthorization(url) {
      await signIn?.show?.(url)
    },
    saveCodeVerifier(code) {
      verifier = code
    },
    codeVerifier() {
      if (verifier === undefined) throw new Error('nobody has begun to sign in')
      return verifier
    },
    saveDiscoveryState(state) {
      discovery = state
    },
    discoveryState: () => discovery,
    async invalidateCredentials(what) {
      if (what === 'verifier') verifier = undefined
      else if (what === 'discovery') discovery = undefined
      else
        await write((kept) => ({
          ...kept,
          tokens: what === 'client' ? kept.tokens : {},
          clients: what === 'tokens' ? kept.clients : {},
        }))
    },
    ...(signIn?.state === undefined ? {} : { state: () => signIn.state! }),
    ...(signIn?.clientMetadataUrl === undefined ? {} : { clientMetadataUrl: signIn.clientMetadataUrl }),
    ...(isAlone ? { prepareTokenRequest } : {}),
  }
  return provider

  function prepareTokenRequest(wanted?: string): URLSearchParams {
    const asked = wanted ?? scope
    return new URLSearchParams({ grant_type: 'client_credentials', ...(asked === undefined ? {} : { scope: asked }) })
  }
}

/** Lets Pawl in by what was kept, renewed if it has ended. Nobody is asked: who must sign in does so elsewhere. */
export const byKeptTokens = (provider: OAuthClientProvider): AuthProvider => ({
  token: async () => (await provider.tokens())?.access_token,
  async onUnauthorized({ serverUrl, fetchFn }) {
    if ((await provider.tokens())?.refresh_token === undefined) throw new UnauthorizedError('nobody has signed in')
    if ((await auth(provider, { serverUrl, fetchFn })) !== 'AUTHORIZED') throw new UnauthorizedError('the sign-in has ended')
  },
})

/** Keeps what there is for as long as it lives. */
export function keepInMemory(): TokenKeeper {
  const texts = new Map<string, string>()
  return {
    read: async (server) => texts.get(server),
    write: async (server, text) => void texts.set(server, text),
  }
}
