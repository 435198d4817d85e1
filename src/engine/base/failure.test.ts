import { expect, test } from 'vitest'
import { PawlError } from '../../domain/error.ts'
import { LaunchInterrupted } from '../../sandbox/port.ts'
import { launchingSandbox } from './failure.ts'

const systemError = (code: string) => Object.assign(new Error(`spawn ${code}`), { code })

test.each<[string, Error, string]>([
  ['was killed while it was built', new LaunchInterrupted('killed', new Error('SIGKILL')), 'crashed'],
  ['lacked a process', new PawlError('unavailable', 'spawn', { cause: systemError('EAGAIN') }), 'crashed'],
  ['lacked a descriptor', new PawlError('unavailable', 'spawn', { cause: systemError('EMFILE') }), 'crashed'],
  ['cannot be built', new PawlError('unavailable', 'no namespaces', { cause: systemError('EPERM') }), 'sandbox_error'],
])('a sandbox that %s ends its run as such', async (_, error, category) => {
  await expect(launchingSandbox(() => Promise.reject(error))).rejects.toMatchObject({ category, message: error.message })
})

test('a mistake of ours passes on', async () => {
  await expect(launchingSandbox(() => Promise.reject(new TypeError('x')))).rejects.toBeInstanceOf(TypeError)
})
