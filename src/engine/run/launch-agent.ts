import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import type { LaunchSpec } from '../../agents/port.ts'
import type { Clock } from '../../base/clock.ts'
import { fp } from '../../base/failpoint.ts'
import { createGate } from '../../base/gate.ts'
import { secretsIn } from '../../domain/base/secret-names.ts'
import { messageOf } from '../../domain/error.ts'
import { writeHomeFiles } from '../../sandbox/files/home-files.ts'
import type { TakenRun } from '../../store/runs.ts'
import type { Entrance, OpenAccess } from '../auth/agent-access.ts'
import { failingAs, launchingSandbox } from '../base/failure.ts'
import type { RunContext } from '../base/run-context.ts'
import { type Door, serveDoor } from '../endpoint/endpoint.ts'
import { ownTask } from '../endpoint/subtasks.ts'
import { createLiveAgent, type LiveAgent } from './live-agent.ts'
import { installed, withEnvironment } from './prepare.ts'
import { recordChild } from './raw-log.ts'
import type { RunParts } from './run.ts'
import type { Place } from './turn.ts'

interface Launch {
  readonly taken: TakenRun
  readonly parts: RunParts
  readonly place: Place
}

/** Starting a process halts our own for a moment; two hundred at once would halt it for seconds, and no walls would stand in time. */
const launching = createGate(availableParallelism())

/** Starts the program inside its walls and lets it in. Undefined if the run was stopped before it was started; then nothing of it is left. */
export async function launchAgent(
  spec: Omit<LaunchSpec, 'access'>,
  entrance: Entrance,
  launch: Launch,
): Promise<LiveAgent | undefined> {
  const token = randomBytes(24).toString('base64url')
  const access = await entrance.open(token)
  // What stays behind is written down and removed at the next start; why nothing was started stays the answer.
  const close = () => access.close().catch((error: unknown) => notLeft(error, launch.place.voice))
  try {
    const agent = await startInside({ ...spec, access: access.access }, { ...launch, access, token })
    if (!agent) await close()
    return agent
  } catch (error) {
    await close()
    throw error
  }
}

async function startInside(
  spec: LaunchSpec,
  { taken, parts, place, access, token }: Launch & { access: OpenAccess; token: string },
): Promise<LiveAgent | undefined> {
  const { adapter, voice, walls, workspace } = place
  const { task, run } = taken
  const plain = await failingAs('bad_config', () => adapter.command(spec))
  // What serves many runs names its task by a word that the door understands.
  const ids: Record<string, string> = adapter.can.warm
    ? { PAWL_TASK_ID: ownTask }
    : {
        PAWL_TASK_ID: task.id,
        PAWL_RUN_ID: run.id,
        ...(place.attached.own === undefined ? {} : { PAWL_ATTACHMENTS: place.attached.own }),
      }
  const isClosed = walls.network === 'none'
  const given = await failingAs('bad_config', () =>
    parts.secretsFor(place.profile.secrets, { agent: task.agent, user: task.user_name }),
  )
  voice.hide(given)
  const variables = Object.fromEntries(given.map(({ variable, value }) => [variable, value]))
  const added = {
    taken,
    profile: place.profile,
    places: place.places,
    isClosed,
    doorToken: token,
    home: walls.home,
    ids,
    access: access.variables,
    withheld: access.withheld,
    models: place.models,
    secrets: variables,
  }
  const command = await installed(withEnvironment(plain, parts, added), workspace.source)
  voice.hide([...secretsIn(command.env), ...access.secrets()])
  await writeHomeFiles(walls.home, command, { user: walls.user })
  const walled = await launching(async () => {
    if (voice.watch.reason) return undefined
    await fp('spawn.before')
    return launchingSandbox(() => place.sandbox.launch(command, { ...walls, door: true }))
  })
  if (!walled) return undefined
  await fp('spawn.after')
  try {
    const door = walled.door && serveDoor(walled.door.server, { token, tools: parts.tools, log: voice.log })
    const listed = () => toolsListed(door, parts.clock, voice)
    const opened = walled.door && { url: walled.door.url, token, listed, exchange: door?.exchange }
    const recorded = recordChild(walled.child)
    return createLiveAgent({
      walled,
      conversation: await adapter.open(recorded.child, opened ? { ...spec, door: opened } : spec),
      recorded,
      door,
      unit: walls.unit,
      environment: command.env,
      access: { ...access, secrets: () => [...access.secrets(), ...given] },
      clock: parts.clock,
    })
  } catch (error) {
    await walled.child.stop({ graceMs: 0 }).catch((failure: unknown) => notLeft(failure, voice))
    throw error
  }
}

/** A program that connects beside its start has done so within a second or two; one that never does is given its work all the same. */
const listedWithinMs = 5_000

async function toolsListed(door: Door | undefined, clock: Clock, { note }: RunContext): Promise<void> {
  if (!door) return
  const late = Promise.withResolvers<boolean>()
  const cancel = clock.after(listedWithinMs, () => late.resolve(false))
  const isListed = await Promise.race([door.listed.then(() => true), late.promise])
  cancel()
  if (!isListed)
    await note(
      'tools_late',
      `It had not asked for Pawl's tools after ${listedWithinMs / 1000} s, and began perhaps without them.`,
    )
}

async function notLeft(error: unknown, { log, note }: RunContext): Promise<void> {
  log.warn('a program was not left cleanly', { error: messageOf(error), reason: 'not_ended_cleanly' })
  await note('not_ended_cleanly', messageOf(error))
}
