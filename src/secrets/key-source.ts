import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { unavailable } from '../domain/error.ts'
import { makeKeyFile, nextOf, parseKey, promoteKey, readKeyFile, stageKey } from './key-file.ts'

/** Where the key of the secret store is kept, as the settings say it (`secrets.key`). */
export type KeySettings =
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: readonly string[] }
  | { readonly keychain: keyof typeof keychains }

/** Where the key comes from. */
export interface KeySource {
  /** For sentences. */
  readonly place: string
  /** Undefined if there is none yet. */
  read(): Promise<Buffer | undefined>
  /** What somebody must do who has none, as a sentence. */
  readonly cure: string
  /** Only the source that is ours alone, the file in Pawl's home: we make the key, and we exchange it. */
  readonly own?: OwnKey | undefined
}

export interface OwnKey {
  /** Never replaces one that is there. */
  make(): Promise<Buffer>
  /** Lays a new key beside the one in use; `promote` puts it in its place. */
  stage(key: Buffer): Promise<void>
  staged(): Promise<Buffer | undefined>
  promote(): Promise<void>
}

/** The programs that speak to the keychain of the person who is signed in. */
const keychains = {
  'secret-service': {
    command: ['secret-tool', 'lookup', 'service', 'pawl', 'account', 'secret-key'],
    store: "head -c 32 /dev/urandom | base64 | secret-tool store --label='Pawl secret key' service pawl account secret-key",
  },
  macos: {
    command: ['security', 'find-generic-password', '-s', 'pawl', '-a', 'secret-key', '-w'],
    store: 'security add-generic-password -s pawl -a secret-key -w   (and paste the output of: head -c 32 /dev/urandom | base64)',
  },
} as const

const commandTimeoutMs = 30_000

export function createKeySource(
  settings: KeySettings | undefined,
  place: { readonly home: string; readonly environment: (names: readonly string[]) => Readonly<Record<string, string>> },
): KeySource {
  if (settings === undefined) return ownFile(join(place.home, 'secret.key'))
  if ('env' in settings) {
    const { env } = settings
    const where = `The variable ${env}`
    return {
      place: `the variable ${env}`,
      cure: `Set ${env} to 32 bytes in base64, for every Pawl process, and keep a copy of it.`,
      read: async () => {
        const text = place.environment([env])[env]
        return text === undefined || text.trim() === '' ? undefined : parseKey(text, where)
      },
    }
  }
  if ('file' in settings) {
    const { file } = settings
    return {
      place: `the file ${file}`,
      cure: `Make it with: (umask 077; head -c 32 /dev/urandom | base64 > ${file})`,
      read: () => readKeyFile(file),
    }
  }
  if ('command' in settings) {
    const { command } = settings
    return { place: `the command ${command[0]}`, cure: 'It must print 32 bytes in base64.', read: () => askProgram(command) }
  }
  const { command, store } = keychains[settings.keychain]
  return {
    place: 'the keychain',
    cure: `Put one there with: ${store}`,
    // Both programs end with a code of their own if there is nothing, and say nothing.
    read: () => askProgram(command, { noneIsNone: true }),
  }
}

function ownFile(file: string): KeySource {
  return {
    place: `the file ${file}`,
    cure: 'It is made when the first secret is set.',
    read: () => readKeyFile(file),
    own: {
      make: () => makeKeyFile(file),
      stage: (key) => stageKey(file, key),
      staged: () => readKeyFile(nextOf(file)),
      promote: () => promoteKey(file),
    },
  }
}

/** What a program prints is a key; what it complains of might hold one, so it is not repeated. */
function askProgram([program = '', ...args]: readonly string[], { noneIsNone = false } = {}): Promise<Buffer | undefined> {
  return new Promise((done, fail) => {
    const child = execFile(program, args, { timeout: commandTimeoutMs, maxBuffer: 4_096, encoding: 'utf8' }, (error, stdout) => {
      const refuse = (why: string) =>
        fail(
          unavailable(
            `The program "${program}", which keeps the key of the secrets, ${why}. Run it yourself to see what it says.`,
          ),
        )
      if (!error) {
        if (stdout.trim() === '') return done(undefined)
        try {
          return done(parseKey(stdout, `What the program "${program}" prints`))
        } catch (thrown) {
          return fail(thrown)
        }
      }
      if (error.code === 'ENOENT') return refuse('is not installed')
      if (error.killed) return refuse(`did not end within ${commandTimeoutMs / 1000} s`)
      if (noneIsNone && stdout === '') return done(undefined)
      return refuse(`ended with code ${error.code}`)
    })
    child.stdin?.end()
  })
}
