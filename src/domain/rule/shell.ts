/** A command line taken apart as far as rules need it: a shell would run every part. */
export interface ShellParts {
  /** Each simple command. `text` is how it stands there; `also` are other ways to name the same, which only narrowing rules look at. */
  readonly commands: readonly { readonly text: string; readonly also: readonly string[] }[]
  /** Files that the shell itself reads or writes for it. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  /** It does not end as it must (an open quote): a shell would refuse it, and nobody can tell what it says. */
  readonly isBroken: boolean
}

/** Reads it once from left to right, with a bound on how deep it nests. */
export function shellParts(line: string): ShellParts {
  const found = {
    commands: [] as { text: string; also: string[] }[],
    reads: [] as string[],
    writes: [] as string[],
    isBroken: false,
  }
  const budget = { left: mostRead }
  new Reader(line, found, 0, budget).list('')
  return budget.left < 0 ? { ...found, isBroken: true } : found
}

type Found = { commands: { text: string; also: string[] }[]; reads: string[]; writes: string[]; isBroken: boolean }

/** Characters read in all, again for each level. Each `eval` is read as a command and as what it runs: 25 of them in a row would be read 2^25 times. */
const mostRead = 500_000
const perReader = 100

const deepest = 20
/** They stand before a command and are none. */
const keywords = new Set('if then elif else fi while until do done case esac select in time ! { } coproc'.split(' '))
/** They run the command that follows them. */
const wrappers = new Set('env command exec builtin nohup nice time sudo doas xargs timeout stdbuf setsid eval'.split(' '))
const shells = /^(ba|da|z|k|a)?sh$/
const assignment = /^[A-Za-z_][A-Za-z0-9_]*\+?=/

class Reader {
  readonly #line: string
  readonly #found: Found
  readonly #depth: number
  readonly #budget: { left: number }
  #closing: '' | ')' | '`' = ''
  #at = 0
  #words: string[] = []
  #documents: { end: string; isLiteral: boolean }[] = []

  constructor(line: string, found: Found, depth: number, budget: { left: number }) {
    this.#line = line
    this.#found = found
    this.#depth = depth
    this.#budget = budget
    budget.left -= line.length + perReader
    if (depth > deepest || budget.left < 0) {
      found.isBroken = true
      this.#at = line.length
    }
  }

  /** Commands up to `closing`, or to the end of the text. */
  list(closing: '' | ')' | '`'): void {
    this.#closing = closing
    while (this.#at < this.#line.length) {
      const char = this.#line[this.#at]!
      if (char === closing) {
        this.#at++
        this.#finish()
        return
      }
      if (char === '\n') {
        this.#finish()
        this.#at++
        this.#skipDocuments()
      } else if (char === ' ' || char === '\t' || char === '\r') this.#at++
      else if (char === '\\' && this.#line[this.#at + 1] === '\n') this.#at += 2
      else if (char === '#') while (this.#at < this.#line.length && this.#line[this.#at] !== '\n') this.#at++
      else if (char === '&' && this.#line[this.#at + 1] === '>') {
        this.#at += this.#line[this.#at + 2] === '>' ? 3 : 2
        this.#redirect('>')
      } else if (';&|()'.includes(char)) {
        this.#at++
        this.#finish()
        if (char === '(') this.#nested(')')
      } else if (char === '<' || char === '>') this.#redirection()
      else this.#words.push(this.#word())
    }
    if (closing !== '') this.#found.isBroken = true
    this.#finish()
  }

  #nested(closing: ')' | '`'): void {
    const inner = new Reader(this.#line.slice(this.#at), this.#found, this.#depth + 1, this.#budget)
    inner.list(closing)
    this.#at += inner.#at
  }

  /** One word without its quotes; what is substituted into it stays as it is written. */
  #word(): string {
    let word = ''
    let isQuoted = false
    const start = this.#at
    while (this.#at < this.#line.length) {
      const char = this.#line[this.#at]!
      if (' \t\r\n;&|()<>'.includes(char) || char === this.#closing) break
      if (char === "'") {
        isQuoted = true
        word += this.#until("'")
      } else if (char === '"') {
        isQuoted = true
        word += this.#doubleQuoted()
      } else if (char === '$' && this.#line[this.#at + 1] === "'") {
        isQuoted = true
        this.#at++
        word += this.#escapedUntilQuote()
      } else if (char === '\\') {
        if (this.#line[this.#at + 1] !== '\n') word += this.#line[this.#at + 1] ?? ''
        this.#at += 2
      } else word += this.#plainOrSubstituted()
    }
    // Numbers before a redirection name a descriptor.
    if (/^\d+$/.test(word) && '<>'.includes(this.#line[this.#at] ?? ' ')) return descriptor
    if (this.#at === start) this.#at++
    return word === '' && !isQuoted ? '' : /[\s;&|<>()'"]/.test(word) || word === '' ? `'${word}'` : word
  }

  #plainOrSubstituted(): string {
    const start = this.#at
    const char = this.#line[this.#at++]!
    if (char === '`') {
      if (this.#closing === '`') this.#found.isBroken = true
      else this.#nested('`')
    } else if (char === '$' && this.#line[this.#at] === '(') {
      this.#at++
      this.#nested(')')
    }
    return this.#line.slice(start, this.#at)
  }

  #until(quote: string): string {
    const end = this.#line.indexOf(quote, this.#at + 1)
    const start = this.#at + 1
    if (end === -1) this.#found.isBroken = true
    this.#at = end === -1 ? this.#line.length : end + 1
    return this.#line.slice(start, end === -1 ? undefined : end)
  }

  #doubleQuoted(): string {
    let text = ''
    this.#at++
    while (this.#at < this.#line.length) {
      const char = this.#line[this.#at]!
      if (char === '"') {
        this.#at++
        return text
      }
      if (char === '\\') {
        text += this.#line[this.#at + 1] ?? ''
        this.#at += 2
      } else text += this.#plainOrSubstituted()
    }
    this.#found.isBroken = true
    return text
  }

  /** `$'…'`, where a backslash keeps the quote from ending. */
  #escapedUntilQuote(): string {
    let text = ''
    for (this.#at++; this.#at < this.#line.length; this.#at++) {
      const char = this.#line[this.#at]!
      if (char === "'") {
        this.#at++
        return text
      }
      if (char === '\\') text += this.#line[++this.#at] ?? ''
      else text += char
    }
    this.#found.isBroken = true
    return text
  }

  #redirection(): void {
    if (this.#words.at(-1) === descriptor) this.#words.pop()
    const sign = /^(<<<|<<-?|<>|<&|<\(|<|>>|>\||>&|>\(|>)/.exec(this.#line.slice(this.#at, this.#at + 3))![0]
    this.#at += sign.length
    if (sign.endsWith('(')) this.#process()
    else if (sign.startsWith('<<') && sign !== '<<<') this.#document(sign)
    else this.#redirect(sign)
  }

  /** `<(command)`: what it prints is read as a file. */
  #process(): void {
    this.#nested(')')
    this.#words.push('/dev/fd/63')
  }

  #redirect(sign: string): void {
    while (' \t'.includes(this.#line[this.#at] ?? '\n')) this.#at++
    const target = this.#at < this.#line.length && !'\n;&|()<>'.includes(this.#line[this.#at]!) ? unquoted(this.#word()) : ''
    if (target === '') {
      // `> >(command)`: the command behind it is found next.
      if (!/^[<>]\(/.test(this.#line.slice(this.#at, this.#at + 2))) this.#found.isBroken = true
    } else if (sign !== '<<<' && !(sign.endsWith('&') && /^(\d+|-|\0)$/.test(target)) && target !== '/dev/null') {
      if (sign !== '>' && sign !== '>>' && sign !== '>|' && sign !== '>&') this.#found.reads.push(target)
      if (sign !== '<' && sign !== '<&') this.#found.writes.push(target)
    }
  }

  #document(sign: string): void {
    while (' \t'.includes(this.#line[this.#at] ?? '\n')) this.#at++
    const start = this.#at
    const end = unquoted(this.#word())
    const isLiteral = /['"\\]/.test(this.#line.slice(start, this.#at))
    this.#documents.push({ end: sign === '<<-' ? `-${end}` : ` ${end}`, isLiteral })
  }

  /** The lines that follow are data up to the word that was named; unless that word was quoted, substitutions in them are run. */
  #skipDocuments(): void {
    for (const { end, isLiteral } of this.#documents.splice(0)) {
      for (let isOver = false; !isOver; ) {
        if (this.#at >= this.#line.length) {
          this.#found.isBroken = true
          break
        }
        const newline = this.#line.indexOf('\n', this.#at)
        const stop = newline === -1 ? this.#line.length : newline
        const text = this.#line.slice(this.#at, stop)
        isOver = (end[0] === '-' ? text.replace(/^\t+/, '') : text) === end.slice(1)
        if (isOver || isLiteral) this.#at = stop + 1
        else {
          while (this.#at < stop) {
            if (this.#line[this.#at] === '\\') this.#at += 2
            else this.#plainOrSubstituted()
          }
          if (this.#at <= stop) this.#at = stop + 1
        }
      }
    }
  }

  /** A command is over: it is one of the parts, unless nothing of it is left. */
  #finish(): void {
    let words = this.#words.filter((word) => word !== '' && word !== descriptor)
    this.#words = []
    while (words.length > 0 && keywords.has(words[0]!)) words = words.slice(1)
    // The words of a loop are data; substitutions in them were found already.
    if (words[0] === 'for') return
    if (words.length === 0) return
    const also = new Set<string>()
    this.#names(words, also)
    const text = words.join(' ')
    also.delete(text)
    this.#found.commands.push({ text, also: [...also] })
  }

  /** Without variables set for it, without the folder of its program, and what it runs itself. */
  #names(words: readonly string[], also: Set<string>, depth = 0): void {
    if (depth > deepest || this.#budget.left < 0) return
    const first = words.findIndex((word) => !assignment.test(word))
    if (first === -1) return
    const program = words[first]!.replace(/^.*\//, '')
    const rest = words.slice(first + 1)
    also.add([program, ...rest].join(' '))
    if (shells.test(program)) {
      const flag = rest.findIndex((word) => /^-[a-z]*c$/.test(word))
      const script = flag === -1 ? undefined : rest[flag + 1]
      if (script !== undefined) this.#within(unquoted(script), also)
    } else if (wrappers.has(program)) {
      if (program === 'eval') this.#within(rest.map(unquoted).join(' '), also)
      const next = rest.findIndex((word) => !word.startsWith('-') && !assignment.test(word) && !/^\d/.test(word))
      if (next !== -1) this.#names(rest.slice(next), also, depth + 1)
    }
  }

  #within(script: string, also: Set<string>): void {
    const inner: Found = { commands: [], reads: [], writes: [], isBroken: false }
    new Reader(script, inner, this.#depth + 1, this.#budget).list('')
    for (const { text, also: more } of inner.commands) for (const name of [text, ...more]) also.add(name)
  }
}

/** Stands for a number that belongs to the redirection behind it. */
const descriptor = '\0'
const unquoted = (word: string) => (word.length > 1 && word.startsWith("'") && word.endsWith("'") ? word.slice(1, -1) : word)
