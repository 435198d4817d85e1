/** What an adapter can do, with what that means for whoever uses the agent; API, CLI and page adapt to it, and what is missing is refused by name. */
export const abilityWords = {
  resume: 'goes on with a conversation after its process has ended',
  fork: 'branches a conversation into a second one',
  preassignSession: 'takes the id of a new conversation from Pawl, so that even one cut short at its start is found again',
  askPermission: 'asks before it does what the rules of the profile do not decide',
  askQuestion: 'asks in its own way; the task waits for the answer',
  warm: 'stays between two turns, so that the next one costs no start',
  usage: 'tells how many tokens it used',
  compact: 'shortens a long conversation when told to',
  mcp: "uses Pawl's tools over MCP: asking, messages, subtasks, and in strict profiles all others",
  systemPrompt: 'takes a system prompt',
  structuredOutput: 'holds its answer to a JSON schema by itself',
  ownLogin: 'can use the login that its program keeps, without a key',
  model: 'takes the name of a model',
  skills: 'uses the skills that a profile allows',
  subagents: 'uses the subagents that a profile allows',
  nativeToolsOff: 'works with none of its own tools, so that only those of Pawl are used',
  images: 'sees attached images as images, not only as files',
} as const

export type Ability = keyof typeof abilityWords
export const abilities = Object.keys(abilityWords) as readonly Ability[] as readonly [Ability, ...Ability[]]
export type Abilities = Readonly<Record<Ability, boolean>>
