import type { Command, Walls } from './port.ts'
import { withOwnNode } from './process/program.ts'
import { killUnitVariable } from './process/tree.ts'

/** Where the agent finds us; set only if there is a door. */
export const doorVariable = 'PAWL_DOOR_URL'

/** Stands for the door's address in arguments and variables of a command: its port is only known inside. */
export const doorPlaceholder = '{{PAWL_DOOR_URL}}'

/** The whole environment of an agent. Nothing of ours is in it, and a command cannot leave its kill unit or its home. */
export function freshEnvironment(command: Command, walls: Pick<Walls, 'home' | 'unit'>): Record<string, string> {
  return {
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    TMPDIR: '/tmp',
    ...command.env,
    PATH: withOwnNode(command.env.PATH),
    HOME: walls.home,
    [killUnitVariable]: walls.unit.marker,
  }
}
