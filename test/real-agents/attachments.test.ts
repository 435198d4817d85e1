import { afterAll, beforeAll, expect, test } from 'vitest'
import { acpPrograms, geminiProgram, type Machine, programs, startMachine } from './peer.ts'

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
})
afterAll(() => machine.stop())

/** A picture of two by two, which every program can read. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAAAABJRU5ErkJggg==',
  'base64',
)
const by = { by: 'test' }
async function* once(bytes: Uint8Array) {
  yield bytes
}
const [claudeAcp] = acpPrograms
const each = [...programs, geminiProgram, claudeAcp!].map((program) => [program.agent, program] as const)
const bodiesSince = (count: number) => machine.models.requests.slice(count).map(({ body }) => JSON.stringify(body))

test.each(each)(
  'the real %s shows its model the image that a task brings, and is told where its files lie',
  async (_, program) => {
    const { runtime } = machine.daemon
    const image = await runtime.addUpload({ name: 'picture.png', content: once(png) }, by)
    const notes = await runtime.addUpload({ name: 'notes.txt', content: once(Buffer.from('some notes')) }, by)
    const before = machine.models.requests.length
    const { task } = await machine.run({
      agentConfig: machine.agent(program, 'text'),
      workspace: await machine.workspace(),
      prompt: 'What is in the picture?',
      skipPlanning: true,
      attachments: [image.id, notes.id],
    })
    expect(task.state).toBe('completed')
    // Some ask for a title by the same words.
    const asked = bodiesSince(before).filter((body) => body.includes('What is in the picture?'))
    expect(asked.join()).toContain(`/run/pawl-attachments/${task.id}/notes.txt (text/plain, 10 bytes)`)
    expect(asked.some((body) => body.includes(png.toString('base64')))).toBe(true)
  },
)
