import { expect, it } from 'vitest'
import { passwordsIn, secretsIn } from './secret-names.ts'

const hidden = (...names: string[]) =>
  secretsIn(Object.fromEntries(names.map((name) => [name, 'the value']))).map(({ name }) => name)

it('a variable is a secret if its name says so', () => {
  const secret = [
    'ANTHROPIC_API_KEY',
    'GH_TOKEN',
    'GH_TOKEN_2',
    'AWS_SECRET_ACCESS_KEY',
    'PGPASSWORD',
    'DB_PASS',
    'authToken',
    'MY_SECRET_VALUE',
    'GCP_CREDENTIALS',
    'PAWL_DOOR_TOKEN',
  ]
  expect(hidden(...secret)).toEqual(secret)
  expect(
    hidden('PATH', 'HOME', 'LANG', 'MAX_TOKENS', 'AWS_ACCESS_KEY_ID', 'SECRET_FILE', 'COMPASS', 'KEYBOARD', 'PAWL_TASK_ID'),
  ).toEqual([])
})

it('the password inside an address is a secret, whatever its variable is called', () => {
  expect(secretsIn({ DATABASE: 'postgres://me:pass%40word@db.example/x', PAGE: 'https://example.com:443/a@b' })).toEqual([
    { name: 'DATABASE', value: 'pass%40word' },
    { name: 'DATABASE', value: 'pass@word' },
  ])
  expect(passwordsIn('postgres://me:half%password@db/x')).toEqual(['half%password'])
  expect(passwordsIn('postgres://me@db/x')).toEqual([])
})
