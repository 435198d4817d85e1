import { expect, it } from 'vitest'
import { shortName } from './places.ts'

it('a file is named as it is seen from where one works, and whole where it lies elsewhere', () => {
  expect(shortName('/work/site/pawl.yaml', '/work/site')).toBe('pawl.yaml')
  expect(shortName('/work/site/deep/pawl.yaml', '/work/site')).toBe('deep/pawl.yaml')
  expect(shortName('/work/pawl.yaml', '/')).toBe('work/pawl.yaml')
  expect(shortName('/work/site-2/pawl.yaml', '/work/site')).toBe('/work/site-2/pawl.yaml')
  expect(shortName('/work/pawl.yaml', '/work/site')).toBe('/work/pawl.yaml')
  expect(shortName('/work/site', '/work/site')).toBe('/work/site')
})

it('a name that begins with two dots leads nowhere', () => {
  expect(shortName('/work/..site/pawl.yaml', '/work')).toBe('..site/pawl.yaml')
})
