import { ownTools as tools } from './program/own-tools.ts'

/** What the loop offers to its model, by names that rules know. */
export const ownTools: readonly string[] = tools.map(({ name }) => name)
