/** A path of one of the two runs, and what it is called in both. */
export interface NamedPlace {
  readonly path: string
  readonly as: string
}

/**
 * Takes out of a text what is different in every run without meaning anything: ids, times, how long something took, ports, and the places where it was. The same text for
 * a run and for its replay means that both asked for the same.
 */
export function normaliser(places: readonly NamedPlace[]): (text: string) => string {
  const literal = places
    .filter(({ path }) => path.length > 1)
    .flatMap(({ path, as }) => [
      { path, as },
      // Some programs name their folders after a path, with dashes for what a name may not hold.
      { path: path.replaceAll(/[^A-Za-z0-9]/g, '-'), as: `${as}-` },
    ])
    // The longer one first: one place may lie inside another.
    .toSorted((one, other) => other.path.length - one.path.length)
  return (text) => {
    let clean = text
    for (const { path, as } of literal) clean = clean.replaceAll(path, `<${as}>`)
    for (const [pattern, name] of passing) clean = clean.replaceAll(pattern, name)
    return clean
  }
}

const month = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*'
const day = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*'

const passing: readonly (readonly [RegExp, string])[] = [
  // Where the programs of sessions are at home, on whatever machine. Bounded: a request of slashes would be gone through anew from each of them.
  [/(?:\/[\w.@+-]+){1,40}\/sessions\/s_[0-9a-hjkmnp-tv-z]{18}/g, '<home>'],
  [/(?<![0-9a-zA-Z])[trsqwenkc]_[0-9a-hjkmnp-tv-z]{18}(?![0-9a-z])/g, '<id>'],
  [/(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])/gi, '<uuid>'],
  [/(?<![0-9a-f])[0-9a-f]{32,128}(?![0-9a-f])/g, '<hex>'],
  // Codex names every output of a command; its name may be of digits alone.
  [/\b(Chunk ID: )[0-9a-f]{6}\b/g, '$1<hex>'],
  // Commits that were made anew have other names, short and long.
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{5,12}\b/g, '<hex>'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[ ]?[+-]\d\d:?\d\d)?/g, '<time>'],
  [/\b\d{4}[-/]\d\d[-/]\d\d\b/g, '<date>'],
  [new RegExp(`\\b${day},? +(?:${month} +\\d{1,2}|\\d{1,2} +${month}),?(?: +\\d{4})?`, 'g'), '<date>'],
  [new RegExp(`\\b${month} +\\d{1,2},? +(?:\\d{4}|\\d\\d:\\d\\d(?::\\d\\d)?)`, 'g'), '<date>'],
  [/\b\d\d:\d\d:\d\d(?:\.\d+)?(?: [AP]M)?\b/g, '<time>'],
  [/\b1[6-9]\d{8}(?:\d{3}|\.\d+)?\b/g, '<time>'],
  [/\b(?:\d+(?:\.\d+)?(?:e-?\d+)? ?(?:ms|µs|ns)|\d+\.\d+ ?(?:s|secs?|seconds?))\b/g, '<took>'],
  [/\b(127\.0\.0\.1|localhost):\d+/g, '$1:<port>'],
  [/\/tmp\/[\w.-]+/g, '<tmp>'],
  [/\b(pid|PID)([ :=]+)\d+/g, '$1$2<pid>'],
]
