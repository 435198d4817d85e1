import type { Wire } from '../transport/wire.ts'

/** What of an agent's card is read here; a card has more. */
export interface CardView {
  readonly name: string
  readonly description: string
  readonly supportedInterfaces: readonly {
    readonly url: string
    readonly protocolBinding: string
    readonly protocolVersion: string
  }[]
  readonly skills: readonly { readonly id: string; readonly name: string; readonly description: string }[]
}

/** How others reach agents by A2A. */
export interface A2ACalls {
  /** The card of an agent, or of the daemon, for whoever is let in. */
  getCard(agent?: string | undefined): Promise<CardView>
}

export const a2aCalls = ({ get }: Wire): A2ACalls => ({
  getCard: (agent) =>
    get(`/a2a${agent === undefined ? '' : `/agents/${encodeURIComponent(agent)}`}/extendedAgentCard`, { 'A2A-Version': '1.0' }),
})
