import { originalOf } from './drawn.ts'
import { drawnText } from './text.ts'

/** Every title of the page goes this way. */
export function showTitle(title: string): void {
  document.title = drawnText(title)
}

/** What is copied is what was written, not what was shown of it. */
export function copyOriginals(): void {
  document.addEventListener('copy', (event) => {
    const selection = document.getSelection()
    if (!selection || selection.isCollapsed || !event.clipboardData) return
    const marks = [...document.querySelectorAll(`mark[${originalOf}]`)].filter((mark) => selection.containsNode(mark, true))
    if (marks.length === 0) return
    // Put in for this very moment, in which nothing is drawn: the browser alone knows where its lines end.
    const shown = marks.map((mark) => mark.firstChild?.nodeValue ?? '')
    for (const mark of marks) setText(mark, charsOf(mark.getAttribute(originalOf) ?? ''))
    const text = selection.toString()
    for (const [n, mark] of marks.entries()) setText(mark, shown[n]!)
    event.clipboardData.setData('text/plain', text)
    event.preventDefault()
  })
}

const charsOf = (codes: string) =>
  codes
    .split(' ')
    .map((code) => String.fromCodePoint(Number.parseInt(code, 16)))
    .join('')
const setText = (mark: Element, text: string) => {
  if (mark.firstChild) mark.firstChild.nodeValue = text
}
