import { expect, test } from 'vitest'
import { adapterNamed, adapters } from './index.ts'

test('every adapter is found by its name', () => {
  for (const adapter of adapters) expect(adapterNamed(adapter.name)).toBe(adapter)
  expect(new Set(adapters.map((adapter) => adapter.name)).size).toBe(adapters.length)
})

test('an unknown adapter is refused with every valid name and the nearest one', () => {
  expect(() => adapterNamed('costum')).toThrow(
    `There is no adapter "costum"; did you mean "custom"? Adapters are: ${adapters.map(({ name }) => name).join(', ')}.`,
  )
})

test("a builtin agent's options are valid by its own schema", () => {
  for (const { builtin, options } of adapters) if (builtin) expect(options.parse(builtin.options)).toEqual(builtin.options)
})
