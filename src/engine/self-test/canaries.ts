/** What may not get out of the walls, or in. Each is tried from inside, with what is forbidden really lying outside. */
export const canaries = {
  read: 'A file of Pawl could be read.',
  write: 'A file could be made outside of the workspace.',
  connect: "A server on this machine's own loopback could be reached.",
  relay: 'The way out of the walls led to a server that the profile does not allow.',
  'raw socket': 'A socket could be opened that bypasses the network rules.',
  env: 'A variable was in the environment that the command was not given.',
  proc: 'The environment or the directory of a process outside could be read.',
  ptrace: 'Another process could be traced.',
  mount: 'A file system could be mounted.',
  'unix socket': 'A unix socket of this machine could be reached.',
  signal: 'A process outside could be signalled.',
  descriptor: 'A descriptor was open that the command was not given.',
} as const

export type Canary = keyof typeof canaries
export const canaryNames = Object.keys(canaries) as Canary[]
