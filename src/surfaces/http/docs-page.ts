import type { Description, Operation } from './describe.ts'
import type { Schema } from './examples/sample.ts'

/** The API for people who read: made of the OpenAPI document, no script, one style of our own, nothing from elsewhere. */
export const docsPolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export function docsPage({ info, paths, components }: Description): string {
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation, group: groupOf(path) })),
  )
  const groups = [...Map.groupBy(all, ({ group }) => group)].sort(([one], [other]) => (one < other ? -1 : 1))
  const contents = groups.map(
    ([group, { length }]) => `<li><a href="#${text(group)}">${text(group)}</a> <small>${length}</small></li>`,
  )
  const sections = groups.map(
    ([group, operations]) =>
      `<section id="${text(group)}"><h2>${text(group)}</h2>${operations.map(({ path, method, operation }) => operationOf(path, method, operation)).join('')}</section>`,
  )
  const schemas = Object.entries(components.schemas)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, schema]) => `<details id="schema-${text(name)}"><summary>${text(name)}</summary>${fieldsOf(schema)}</details>`)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>The API of Pawl ${text(info.version)}</title><link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/docs.css"></head>
<body><header><a href="/">Pawl</a> <small>${text(info.version)}</small></header>
<nav aria-label="Contents"><ul>${contents.join('')}<li><a href="#schemas">schemas</a></li></ul></nav>
<main><h1>The API</h1><p>${text(info.description ?? '')} Every request but those that are open to all needs a token: <code>Authorization: Bearer …</code>; the owner's stands in the file <code>token</code> in Pawl's home, <code>pawl token create</code> makes others. The same as a document: <a href="/api/v1/openapi.json">OpenAPI 3.1</a>.</p>
${sections.join('\n')}
<section id="schemas"><h2>schemas</h2>${schemas.join('')}</section></main></body></html>`
}

/** The noun it is about. */
const groupOf = (path: string) => /^\/api\/v1\/([\w-]+)/.exec(path)?.[1]?.replace(/\.json$/, '') ?? 'daemon'

function operationOf(path: string, method: string, operation: Operation): string {
  const right = operation['x-pawl-right']
  const parameters = (operation.parameters ?? []).map(
    ({ name, in: place, required, description, schema }) =>
      `<tr><td><code>${text(name)}</code></td><td>${text(place)}${required ? ', needed' : ''}</td><td>${text(description ?? schema?.description ?? typeOf(schema ?? {}))}</td></tr>`,
  )
  const [type, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  const answers = Object.entries(operation.responses).map(([status, { description, content }]) => {
    const [kind, first] = Object.entries(content ?? {})[0] ?? []
    const shown =
      first?.example === undefined || status === 'default' ? '' : `<pre tabindex="0">${text(written(first.example))}</pre>`
    return `<h3>${text(status === 'default' ? 'otherwise' : status)} <small>${text(kind ?? '')} ${schemaLink(first?.schema)}</small></h3><p>${text(description)}</p>${shown}`
  })
  return `<details id="${text(`${method}-${path}`)}"><summary><span class="what"><b class="${text(method)}">${text(method.toUpperCase())}</b> <code>${text(path)}</code></span> <span class="says">${text(operation.summary ?? '')}</span></summary>
${right === undefined ? '' : right === 'open' ? '<p>Open to all.</p>' : `<p>Needs the right <code>${text(right)}</code>.</p>`}
${parameters.length > 0 ? `<table><thead><tr><th scope="col">parameter</th><th scope="col">in</th><th scope="col">what it says</th></tr></thead><tbody>${parameters.join('')}</tbody></table>` : ''}
${body?.example === undefined ? '' : `<h3>Request <small>${text(type ?? '')} ${schemaLink(body.schema)}</small></h3><pre tabindex="0">${text(written(body.example))}</pre>`}
<h3>As a command</h3><pre class="copy" tabindex="0">${text(curlOf(path, method, body?.example))}</pre>
${answers.join('')}</details>`
}

function curlOf(path: string, method: string, body: unknown): string {
  const words = [
    'curl',
    ...(method === 'get' ? [] : ['-X', method.toUpperCase()]),
    '-H "Authorization: Bearer $(cat ~/.pawl/token)"',
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`]),
    `"http://127.0.0.1:7295${path}"`,
  ]
  return words.join(' ')
}

function fieldsOf(schema: Schema): string {
  const required = new Set(schema.required)
  const rows = Object.entries(schema.properties ?? {}).map(
    ([name, field]) =>
      `<tr><td><code>${text(name)}</code></td><td>${schemaLink(field) || text(typeOf(field))}${required.has(name) ? ', needed' : ''}</td><td>${text(field.description ?? '')}</td></tr>`,
  )
  if (rows.length > 0)
    return `<table><thead><tr><th scope="col">field</th><th scope="col">type</th><th scope="col">what it says</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
  return `<pre tabindex="0">${text(written(schema))}</pre>`
}

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return [...new Set(choices.map(typeOf))].join(' | ')
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)!
  if (schema.type === 'array') return `${typeOf(schema.items ?? {})}[]`
  return [schema.type ?? 'any'].flat().join(' | ')
}

function schemaLink(schema: Schema | undefined): string {
  const name = schema?.$ref?.split('/').at(-1)
  return name === undefined ? '' : `<a href="#schema-${text(name)}">${text(name)}</a>`
}

const written = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))
const signs: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const text = (value: string) => value.replaceAll(/[&<>"']/g, (sign) => signs[sign]!)

export const docsStyle = `:root { color-scheme: light dark; --line: light-dark(#dcdcd6, #33383e); --soft: light-dark(#eeeeea, #111315); --raised: light-dark(#fff, #1e2125); --quiet: light-dark(#5d6468, #a0a7ad); --accent: light-dark(#1a5e59, #6fc3ba); }
* { box-sizing: border-box; } html { scroll-padding-top: 4rem; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; background: light-dark(#f7f7f5, #16181b); color: light-dark(#1d2022, #e6e8ea); display: grid; grid-template-columns: 13rem minmax(0, 1fr); }
header { grid-column: 1 / -1; position: sticky; top: 0; z-index: 2; height: 3rem; line-height: 3rem; padding: 0 1rem; border-bottom: 1px solid var(--line); background: inherit; font-weight: 600; } header a { display: inline-block; text-decoration: none; }
nav { position: sticky; top: 3rem; height: calc(100vh - 3rem); overflow: auto; padding: .5rem 1rem 1rem; border-right: 1px solid var(--line); }
nav ul { list-style: none; margin: 0; padding: 0; } nav a { display: inline-block; padding: .15rem 0; text-decoration: none; } a { color: var(--accent); } a:hover { text-decoration: underline; }
main { padding: 1rem 1.5rem 6rem; max-width: 64rem; } h1 { font-size: 1.35rem; margin: .25rem 0; } h2 { margin: 2.25rem 0 .5rem; font-size: 1.1rem; } h3 { margin: 1.25rem 0 .25rem; font-size: .95rem; } p { margin: .4rem 0; } small { color: var(--quiet); font-weight: normal; }
details { border: 1px solid var(--line); border-radius: 8px; margin: .4rem 0; padding: 0 .85rem; background: var(--raised); } details[open] { padding-bottom: .85rem; }
summary { cursor: pointer; padding: .5rem 0; display: grid; grid-template-columns: minmax(16rem, 24rem) minmax(0, 1fr); gap: 0 1rem; overflow-wrap: anywhere; } #schemas summary { display: list-item; } summary:hover { color: var(--accent); }
.what { display: grid; grid-template-columns: 4rem minmax(0, 1fr); align-items: baseline; } .says { color: var(--quiet); }
summary b { font-size: .75rem; letter-spacing: .03em; } .delete { color: light-dark(#a8261c, #ff9d92); } .get { color: light-dark(#1d6b35, #7fcf95); } .post, .put, .patch { color: light-dark(#7d4e00, #f2bd5b); }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 13px; } pre { background: var(--soft); margin: .4rem 0; padding: .6rem .75rem; border-radius: 8px; overflow: auto; max-height: 26rem; line-height: 1.45; } pre.copy { user-select: all; white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: 14px; margin: .4rem 0; } th { color: var(--quiet); font-weight: 500; } th, td { text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); padding: .3rem .6rem .3rem 0; overflow-wrap: anywhere; } td:first-child { min-width: 8rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
@media (max-width: 60rem) { summary { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 40rem) { body { display: block; } main { padding: .75rem 1rem 4rem; } html { scroll-padding-top: 7rem; }
  nav { height: auto; z-index: 1; border: 0; border-bottom: 1px solid var(--line); padding: .35rem 1rem; } nav { background: light-dark(#f7f7f5, #16181b); }
  thead { position: absolute; clip-path: inset(50%); } td { display: block; border: 0; padding: 0; } td:last-child { border-bottom: 1px solid var(--line); padding-bottom: .4rem; margin-bottom: .4rem; } nav ul { display: flex; gap: 1rem; overflow-x: auto; white-space: nowrap; } nav small { display: none; } }
`
