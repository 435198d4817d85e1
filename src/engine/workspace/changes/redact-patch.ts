/**
 * Keeps secrets out of a difference. Each of its lines has a sign before it, which would part a secret of several lines: so lines that follow each other with the same
 * sign are looked at together, without it.
 */
export function redactPatch(patch: string, redact: (text: string) => string): string {
  const out: string[] = []
  let sign = ''
  let group: string[] = []
  const end = () => {
    if (group.length === 0) return
    const text = group.join('\n')
    const clean = redact(text)
    // Nearly all of it holds no secret.
    out.push(...(clean === text ? group : clean.split('\n')).map((line) => `${sign}${line}`))
    group = []
  }
  for (const line of patch.split('\n')) {
    const begins = line[0] === '+' || line[0] === '-' || line[0] === ' ' ? line[0] : ''
    if (begins !== sign) end()
    sign = begins
    group.push(line.slice(begins.length))
  }
  end()
  return out.join('\n')
}
