import type { WireName } from './wire.ts'

/**
 * Seals say whose they are: `<format>:<the provider's own words>`. A client of the same format gets the bare words, one of another format
 * gets the whole, marked as ours, and brings it back as it is; so a thought is never shown to a provider that has not had it.
 */
export const markedSeal = (wire: WireName, raw: string): string => (isMarked(raw) ? unmarked(raw) : `${wire}:${raw}`)

/** Whether it is one that we gave to a client of another format. */
export const isMarked = (raw: string): boolean => raw.startsWith(sealMark)

/** As it is written to a client of that format. */
export const sealForClient = (wire: WireName, seal: string): string =>
  sealForProvider(wire, seal) ?? sealMark + Buffer.from(seal, 'utf8').toString('base64')

/** The provider's own words, if they are of that format. */
export const sealForProvider = (wire: WireName, seal: string | undefined): string | undefined =>
  seal?.startsWith(`${wire}:`) ? seal.slice(wire.length + 1) : undefined

/** Where a format has no place for the seal of a call, it goes before the call as that of an empty thought. */
export const sealAhead = (seal: string): string => aheadMark + seal
export const sealOfNextCall = (seal: string | undefined): string | undefined =>
  seal?.startsWith(aheadMark) ? seal.slice(aheadMark.length) : undefined

const aheadMark = 'next-call:'
/** Base 64 of `pawl1:`: some formats take nothing but base 64 as a seal. */
export const sealMark = 'cGF3bDE6'
const unmarked = (raw: string) => Buffer.from(raw.slice(sealMark.length), 'base64').toString('utf8')
