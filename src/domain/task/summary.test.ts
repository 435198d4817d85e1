import { describe, expect, it } from 'vitest'
import { briefOf, summaryOf } from './summary.ts'

describe('the summary of a run', () => {
  it("is the agent's own, below a heading of that name, up to the next of its rank", () => {
    const text = '# Report\n\nLong story.\n\n## Summary\n\nFixed the test.\n\n### Files\n\n- a.ts\n\n## Next steps\n\nNone.'
    expect(summaryOf(text)).toBe('Fixed the test.\n\n### Files\n\n- a.ts')
  })

  it('is found however it is headed', () => {
    for (const heading of [
      '## Summary',
      '# summary:',
      '### ✅ Summary',
      '**Summary**',
      '**Summary:**',
      'Summary:',
      '## What I did',
      '# TL;DR',
    ])
      expect(summaryOf(`Story.\n\n${heading}\n\nFixed it.`), heading).toBe('Fixed it.')
    expect(summaryOf('Story.\n\n**Summary:** Fixed it.')).toBe('Fixed it.')
  })

  it('is not looked for in code, and a heading with nothing below it is none', () => {
    const fenced = 'Wrote this:\n\n```\n## Summary\nx\n```\n\nDone.'
    expect(summaryOf(fenced)).toBe(fenced)
    expect(summaryOf('Done.\n\n## Summary\n')).toBe('Done.\n\n## Summary')
  })

  it('is else the last text, without its header', () => {
    expect(summaryOf('---\nrequest_status: COMPLETE\n---\nAll done.')).toBe('All done.')
    expect(summaryOf('  \n ')).toBeUndefined()
  })

  it('is cut at the end of a paragraph, a sentence or a word, and never inside of code', () => {
    const sentence = 'This is a sentence of some length. '
    const cut = summaryOf(sentence.repeat(40), 100)
    expect(cut).toBe('This is a sentence of some length. This is a sentence of some length. …')
    expect(summaryOf(`${'word '.repeat(15)}\n\n${'more '.repeat(40)}`, 100)).toBe(`${'word '.repeat(15).trim()}\n…`)
    expect(summaryOf(`Before.\n\n\`\`\`ts\n${'const a = 1\n'.repeat(40)}\`\`\``, 100)).toBe('Before.\n…')
    expect(summaryOf('x'.repeat(500), 100)).toBe(`${'x'.repeat(99)}…`)
  })
})

describe('the brief of a text', () => {
  it('is its first line that says something, without marks', () => {
    expect(briefOf('\n---\n```sh\nnpm test\n```\n\n## **Fix** the `login` [test](http://x)\nmore')).toBe('Fix the login test')
    expect(briefOf('- [x] *done* with it')).toBe('done with it')
    expect(briefOf('> 1. quoted text')).toBe('quoted text')
    expect(briefOf('snake_case_name stays, 2 * 3 * 4 too')).toBe('snake_case_name stays, 2 * 3 * 4 too')
  })

  it('is cut with dots at 80 signs, and nothing shorter than four counts', () => {
    expect(briefOf('a'.repeat(200))).toBe(`${'a'.repeat(79)}…`)
    expect(briefOf('ok\n#\nyes\nwell then')).toBe('well then')
    expect(briefOf('***\n   \n~~~\ncode that is long\n~~~')).toBeUndefined()
  })
})

it.each([
  ['blanks and number signs', `# ${' '.repeat(50_000)}${'#'.repeat(50_000)}x`],
  ['words, blanks and number signs', `# a${' '.repeat(50_000)}${'#'.repeat(50_000)}${' '.repeat(50_000)}x`],
  ['blanks behind bold words', `**Summary**${' '.repeat(50_000)}x\rx`],
  ['rules', `${'- '.repeat(50_000)}x`],
])('a line of 100,000 %s is read at once', (_, line) => {
  const startedAt = performance.now()
  summaryOf(`Done.\n${line}\n`)
  briefOf(line)
  expect(performance.now() - startedAt).toBeLessThan(500)
})

it('a heading keeps its meaning with number signs behind it', () => {
  expect(summaryOf('# Work\nlong\n## Summary ##  \nIt is done.\n## Next\nmore')).toBe('It is done.')
})
