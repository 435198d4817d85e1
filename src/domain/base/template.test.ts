import { expect, test } from 'vitest'
import { renderTemplate } from './template.ts'

const values = { name: 'Ada', list: ['one', 'two'], none: undefined, empty: [], yes: true, no: false }
const render = (template: string) => renderTemplate(template, values, 'The template')

test('names are values, and sections stay where there is one, or where there is none', () => {
  expect(render('{{name}}, {{ name }}: {{list}}.')).toBe('Ada, Ada: one\ntwo.')
  expect(
    render('a{{#list}}b{{/list}}{{#empty}}c{{/empty}}{{^none}}d{{/none}}{{^yes}}e{{/yes}}{{#yes}}{{#no}}f{{/no}}g{{/yes}}'),
  ).toBe('abdg')
  expect(render('{{yes}} {{no}} {{none}}|')).toBe('yes no |')
  expect(render('{ {name} } {{1}} {{}}')).toBe('{ {name} } {{1}} {{}}')
})

test('what is put in is not read again', () => {
  expect(renderTemplate('{{a}}', { a: '{{b}}', b: 'secret' }, 'x')).toBe('{{b}}')
})

test.each([
  ['{{nome}}', 'The template names {{nome}}, which there is none of; there is: name, list, none, empty, yes, no.'],
  ['{{#name}}x', 'The template opens {{#name}} and does not close it.'],
  ['{{#name}}x{{/list}}', 'The template closes {{/list}}, which is not what is open there.'],
  ['x{{/name}}', 'The template closes {{/name}}, which is not what is open there.'],
  [' {{none}}\n', 'The template comes out empty; say something in it.'],
])('%j is refused', (template, sentence) => {
  expect(() => render(template)).toThrow(sentence)
})
