import { productOf, type Sources } from './imports.ts'

/** The forms in which a program asks another by HTTP: the fetch of the platform, `request` and `get` of Node's modules under any name, and other libraries. */
const forms = [
  /(?<![.\w#])(?:globalThis\.)?fetch\(/,
  /\b(?:https?|wire)\.(?:request|get)\(/,
  /\b(?:globalThis\.)?new (?:EventSource|WebSocket|XMLHttpRequest)\(/,
  /^import (?!type\b)\{[^}]*(?<!type )\b(?:request|get)\b[^}]*\} from 'node:https?'/,
  /^import (?!type\b)[^'{]*\{?[^'}]*\}?\s*from '(?:undici|axios|got|node-fetch)'/,
  /^import (?:\* as )?\w+ from 'node:https?'/,
]
const comment = /^\s*(?:\/\/|\/?\*)/

/** Says in which file and line another program is asked by HTTP. */
export const httpRequests = (sources: Sources): string[] =>
  [...productOf(sources)].flatMap(([file, text]) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        !comment.test(line) && forms.some((form) => form.test(line)) ? [`${file}:${index + 1} ${line.trim().slice(0, 120)}`] : [],
      ),
  )
